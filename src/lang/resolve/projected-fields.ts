/** Decides which fields of a schema a projection can include, for any document. */
import type { Path, Step } from '../../base/path.ts'
import type { Field } from '../../schema/field.ts'
import type { Projection, ProjectionItem } from '../projection.ts'

/** Patterns are indexed in a trie, so that for each of many fields only a few of many items are examined. */
export function compileIncludes<F>(projection: Projection<F>): (field: Field) => boolean {
  const reaches = compileReaches(projection)
  return ({ kind, path }) => reaches([...path.split('.'), ...(kind === 'array' ? ['*'] : [])])
}

function compileReaches<F>(projection: Projection<F>): (path: Path) => boolean {
  const root = patternsOf(projection)
  const inside = new Map<number, (path: Path) => boolean>()
  const insideOf = (position: number): ((path: Path) => boolean) => {
    const item = projection[position]!
    const known = inside.get(position) ?? compileReaches(item.kind === 'field' ? [] : item.projection)
    inside.set(position, known)
    return known
  }
  return (path) => {
    const { decisive, arrays } = opinionsOn(path, root)
    for (const { position, depth } of arrays) {
      if (position < decisive) break
      if (depth + 1 === path.length || insideOf(position)(path.slice(depth + 1))) return true
      if (overruling(path.slice(0, depth + 1), root) < position) return false
    }
    return decisive !== NONE && projection[decisive]!.include
  }
}

/**
 * A trie of the patterns of a projection. Numbers are positions of items, `NONE` if there is none. Of several items with
 * the same meaning that end at one node only the last counts.
 */
interface Node {
  /** All indexes share one node, because the index of an array element does not matter here. */
  readonly next: Map<Step, Node>
  /** The last item that ends here, and the last recursive one, which also decides about all fields below. */
  here: number
  recursive: number
  /** The same among items that include. */
  includingHere: number
  includingRecursive: number
  /** The last item that includes a field below. */
  below: number
  /** All array projections that end here. */
  readonly arrays: number[]
}

const NONE = -1
const ANY_NUMBER = 0

function patternsOf<F>(projection: Projection<F>): Node {
  const root = createNode()
  for (const [position, item] of projection.entries()) enter(item, position, root)
  return root
}

function createNode(): Node {
  const none = { here: NONE, recursive: NONE, includingHere: NONE, includingRecursive: NONE, below: NONE }
  return { next: new Map(), ...none, arrays: [] }
}

function enter<F>(item: ProjectionItem<F>, position: number, root: Node): void {
  let node = root
  for (const step of item.pattern) {
    // The ancestors of an included field are included; those of an excluded field are not excluded.
    if (item.kind === 'field' && item.include) node.below = position
    const key = typeof step === 'number' ? ANY_NUMBER : step
    const next = node.next.get(key) ?? createNode()
    node.next.set(key, next)
    node = next
  }
  if (item.kind !== 'field') {
    node.arrays.push(position)
    return
  }
  if (item.include) {
    node.includingHere = position
    if (item.recursive) node.includingRecursive = position
  }
  // An item that excludes one index of an array leaves the other elements, so the field stays included.
  if (!item.include && item.pattern.some((step) => typeof step === 'number')) return
  node.here = position
  if (item.recursive) node.recursive = position
}

/** The last item that decides about a path, and the array projections above the path, last item first. */
function opinionsOn(path: Path, root: Node) {
  let decisive = NONE
  const arrays: { readonly position: number; readonly depth: number }[] = []
  walk(path, root, (node, depth) => {
    if (depth === path.length) decisive = Math.max(decisive, node.here, node.below)
    else {
      decisive = Math.max(decisive, node.recursive)
      for (const position of node.arrays) arrays.push({ position, depth })
    }
  })
  return { decisive, arrays: arrays.sort((a, b) => b.position - a.position) }
}

/**
 * The last item that includes the elements of an array. If it comes after an array projection, the whole list projects
 * the elements instead.
 */
function overruling(element: Path, root: Node): number {
  let last = NONE
  walk(element, root, (node, depth) => {
    const own = depth === element.length ? Math.max(node.includingHere, node.below) : node.includingRecursive
    last = Math.max(last, own)
  })
  return last
}

/** Visits every node whose pattern matches the path up to the length of the shorter one. */
function walk(path: Path, root: Node, visit: (node: Node, depth: number) => void): void {
  let nodes: readonly Node[] = [root]
  for (let depth = 0; nodes.length > 0; depth++) {
    for (const node of nodes) visit(node, depth)
    if (depth === path.length) return
    const step = path[depth]!
    const other = step === '*' ? ANY_NUMBER : '*'
    nodes = nodes.flatMap(({ next }) => [next.get(step) ?? [], next.get(other) ?? []].flat())
  }
}

/** How many steps pattern and path have in common from their beginning. */
export function commonDepth(pattern: Path, path: Path): number {
  const other = pattern.findIndex(
    (step, i) =>
      i >= path.length ||
      !(step === '*' || step === path[i] || (typeof step === 'number' && path[i] === '*')),
  )
  return other === -1 ? pattern.length : other
}
