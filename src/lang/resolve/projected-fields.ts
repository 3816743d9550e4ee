/** Which fields of a schema a projection can let out, whatever the document. */
import type { Path, Step } from '../../base/path.ts'
import type { Field } from '../../schema/field.ts'
import type { Projection, ProjectionItem } from '../projection.ts'

/** Items are found by the steps of a path: of many items, few have to be looked at for each of many fields. */
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

/** The patterns of a projection, step by step. Of the items that end at one place and mean the same the last one counts. */
interface Node {
  /** All numbers share one node: which element of an array it is does not matter here. */
  readonly next: Map<Step, Node>
  /** Positions of items that end here: those that decide about what stands here, and about all below it. */
  here: number
  recursive: number
  /** The same of those that include. */
  includingHere: number
  includingRecursive: number
  /** Of an item that includes something further down. */
  below: number
  /** Of array projections. */
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
    // Ancestors of what is included are included, those of what is excluded are not excluded.
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
  // An exclusion of one position of an array leaves the others.
  if (!item.include && item.pattern.some((step) => typeof step === 'number')) return
  node.here = position
  if (item.recursive) node.recursive = position
}

/** The last item that decides about a path, and the array projections above it, the last one first. */
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

/** The last item that includes elements of an array, which the whole list projects then if it comes later. */
function overruling(element: Path, root: Node): number {
  let last = NONE
  walk(element, root, (node, depth) => {
    const own = depth === element.length ? Math.max(node.includingHere, node.below) : node.includingRecursive
    last = Math.max(last, own)
  })
  return last
}

/** Visits every place where a pattern agrees with the path as far as both go. */
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

/** Whether pattern and path agree as far as both go. */
export function overlaps(pattern: Path, path: Path): boolean {
  return pattern.every(
    (step, i) =>
      i >= path.length || step === '*' || step === path[i] || (typeof step === 'number' && path[i] === '*'),
  )
}
