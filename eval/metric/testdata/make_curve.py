"""Writes curve.json: random rankings, and the interpolated precision that ir_measures (trec_eval) gives.

usage: pip install ir_measures==0.4.3; python make_curve.py > curve.json
"""
import json, random, ir_measures
from ir_measures import parse_measure

rng = random.Random(3)
docs = ["d%02d" % i for i in range(40)]
qrels, run = [], []
for q in range(1, 26):
    qrels += [(str(q), d, rng.choice([0, 1, 1, 2])) for d in rng.sample(docs, rng.randint(1, 23))]
    run += [(str(q), d, 100 - i) for i, d in enumerate(rng.sample(docs, rng.randint(1, 40)))]
points = [parse_measure("IPrec@%.1f" % (i / 10)) for i in range(11)]
values = {}
for m in ir_measures.iter_calc(points, [ir_measures.Qrel(*x) for x in qrels], [ir_measures.ScoredDoc(*x) for x in run]):
    values.setdefault(m.query_id, [0] * 11)[points.index(m.measure)] = m.value
print(json.dumps([{"qrels": qrels, "run": run, "curves": values}]))
