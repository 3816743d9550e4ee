/** The graph of entities: which one refers to which, in layers from left to right, with the edges that close a cycle. */
import type { DependencyNode } from '../client/types.ts'

export interface Edge {
  readonly from: string
  readonly to: string
  /** Whether it leads back to an entity on the way here. */
  readonly isCycle: boolean
}

export interface Graph {
  /** Names by layer: those that nothing refers to come first. */
  readonly layers: readonly (readonly string[])[]
  readonly edges: readonly Edge[]
}

export function graphOf(nodes: readonly DependencyNode[]): Graph {
  const targets = targetsOf(nodes)
  const edges: Edge[] = []
  const state = new Map<string, 'open' | 'done'>()
  const order: string[] = []
  // depth first, with a stack of its own: an edge to an open entity closes a cycle
  for (const start of targets.keys()) {
    if (state.has(start)) continue
    const stack = [{ name: start, rest: [...(targets.get(start) ?? [])] }]
    state.set(start, 'open')
    while (stack.length > 0) {
      const top = stack.at(-1)!
      const next = top.rest.shift()
      if (next === undefined) {
        state.set(top.name, 'done')
        order.push(top.name)
        stack.pop()
        continue
      }
      edges.push({ from: top.name, to: next, isCycle: state.get(next) === 'open' })
      if (state.has(next)) continue
      state.set(next, 'open')
      stack.push({ name: next, rest: [...(targets.get(next) ?? [])] })
    }
  }
  return { layers: layersOf(order.toReversed(), edges), edges }
}

/** What each entity refers to. An entity appears again below others, but always with the same references. */
function targetsOf(nodes: readonly DependencyNode[]): ReadonlyMap<string, ReadonlySet<string>> {
  const targets = new Map<string, Set<string>>()
  const waiting = [...nodes]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const own = targets.get(node.name) ?? new Set()
    targets.set(node.name, own)
    for (const each of node.dependencies ?? []) {
      if (own.has(each.name)) continue
      own.add(each.name)
      waiting.push(each)
    }
  }
  return targets
}

/** `order` has every entity before those that it refers to, cycles aside. */
function layersOf(order: readonly string[], edges: readonly Edge[]): readonly (readonly string[])[] {
  const depths = new Map<string, number>()
  const outgoing = Map.groupBy(
    edges.filter(({ isCycle }) => !isCycle),
    ({ from }) => from,
  )
  for (const name of order) {
    const depth = depths.get(name) ?? 0
    depths.set(name, depth)
    for (const { to } of outgoing.get(name) ?? []) depths.set(to, Math.max(depths.get(to) ?? 0, depth + 1))
  }
  const byDepth = Map.groupBy(order, (name) => depths.get(name) ?? 0)
  return [...byDepth].sort(([a], [b]) => a - b).map(([, names]) => names.sort())
}
