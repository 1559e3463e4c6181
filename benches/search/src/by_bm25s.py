# Prints the row of bm25s: TEXTS QUESTIONS, two files with one on each line.
import resource
import statistics
import sys
import time

import bm25s

texts = open(sys.argv[1]).read().split("\n")
questions = open(sys.argv[2]).read().split("\n")


def build():
    start = time.process_time()
    tokens = bm25s.tokenize(texts, stopwords=None, show_progress=False)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    return index, (time.process_time() - start) * 1e3


def ask(index, question):
    start = time.perf_counter()
    tokens = bm25s.tokenize(question, stopwords=None, show_progress=False)
    index.retrieve(tokens, k=10, show_progress=False)
    return (time.perf_counter() - start) * 1e6


builds = [build() for _ in range(3)]
index = builds[0][0]
took = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
times = sorted(statistics.median(ask(index, question) for _ in range(5)) for question in questions)
p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
least = min(time for _, time in builds)
print(f"| {len(texts)} | bm25s {bm25s.__version__} (Python) | {least:.1f} | {took:.0f}, the process | {p50:.1f} | | {p99:.1f} | |")
