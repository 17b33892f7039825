"""Strongly connected components: what cycles exist, and an order of everything else, in one linear pass."""

from collections.abc import Sequence


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Tarjan's algorithm over nodes 0 … n-1, without recursion, so that a long chain does not exhaust the stack.

    Each component stands after all components that it leads to (reverse topological order); members ascend.
    """
    count = len(successors)
    found_at = [-1] * count  # the order in which nodes are discovered; -1: not yet
    lowest = [0] * count  # the earliest discovered node of the open component that is known to be reachable
    is_open = [False] * count
    stack: list[int] = []
    found: list[list[int]] = []
    clock = 0
    for start in range(count):
        if found_at[start] >= 0:
            continue
        path = [start]
        next_edge = [0]
        while path:
            node = path[-1]
            if next_edge[-1] == 0:
                found_at[node] = lowest[node] = clock
                clock += 1
                stack.append(node)
                is_open[node] = True
            descended = False
            while next_edge[-1] < len(successors[node]):
                target = successors[node][next_edge[-1]]
                next_edge[-1] += 1
                if found_at[target] < 0:
                    path.append(target)
                    next_edge.append(0)
                    descended = True
                    break
                if is_open[target]:
                    lowest[node] = min(lowest[node], found_at[target])
            if descended:
                continue
            path.pop()
            next_edge.pop()
            if path:
                lowest[path[-1]] = min(lowest[path[-1]], lowest[node])
            if lowest[node] == found_at[node]:
                members: list[int] = []
                while not members or members[-1] != node:
                    members.append(stack.pop())
                    is_open[members[-1]] = False
                found.append(sorted(members))
    return found
