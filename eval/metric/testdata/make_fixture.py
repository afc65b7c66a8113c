"""Writes fixture.json: random rankings, and what ir_measures says of them.

One run has many ties: there the measures are those that ir_measures hands to
trec_eval, whose order among equals is the one this package keeps. The other
providers order equals in ways of their own, so they see a run without ties.

usage: pip install ir_measures==0.4.3 cwl-eval; python make_fixture.py > fixture.json
"""
import json, random, sys, ir_measures
from ir_measures import parse_measure

TREC = ["nDCG@10", "nDCG@5", "nDCG", "nDCG(judged_only=True)@10", "AP", "AP@100", "AP(rel=2)@100", "RR", "RR(rel=2)",
        "P@5", "P@10", "P(rel=2)@5", "R@10", "R@100", "Success@1", "Success@5"]
OTHERS = ["Judged@10", "nDCG(dcg='exp-log2')@10", "RR@10", "RR(rel=2)@10", "RBP(p=0.8,rel=1)", "RBP(p=0.5,rel=2)", "ERR@20"]


def case(rng, ties, names):
    qrels, run = [], []
    docs = ["d%02d" % i for i in range(60)]
    for q in range(1, 41):
        for d in rng.sample(docs, rng.randint(1, 30)):
            qrels.append((str(q), d, rng.choice([0, 0, 1, 1, 2, 3])))
        for d in rng.sample(docs, rng.randint(1, 60)):
            run.append((str(q), d, round(rng.random() * 10) / 4 if ties else rng.random()))
    Q = [ir_measures.Qrel(*x) for x in qrels]
    R = [ir_measures.ScoredDoc(*x) for x in run]
    values = {}
    for name in names:
        values[name] = {m.query_id: m.value for m in ir_measures.iter_calc([parse_measure(name)], Q, R)}
    return {"qrels": qrels, "run": run, "values": values}


rng = random.Random(7)
print(json.dumps([case(rng, True, TREC), case(rng, False, TREC + OTHERS)]))
