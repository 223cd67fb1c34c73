"""Pairs that are merged, learnt from a list of words; where two are equally frequent, the first by the alphabet."""

from collections import defaultdict


def learn_pairs(words, num_merges):
    entries = {w: [*w, "</w>"] for w in words if w}
    rules = []
    for _ in range(num_merges):
        seen = defaultdict(int)
        for parts in entries.values():
            for one, two in zip(parts, parts[1:]):
                seen[one, two] += 1
        if not seen:
            return rules
        top = max(seen.values())
        rule = min(p for p, n in seen.items() if n == top)
        rules.append(rule)
        for w, parts in entries.items():
            i, new = 0, []
            while i < len(parts):
                both = tuple(parts[i : i + 2]) == rule
                new.append("".join(rule) if both else parts[i])
                i += 2 if both else 1
            entries[w] = new
    return rules
