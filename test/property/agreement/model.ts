/** Schemas as the agreement test sees them: its own small model, so that nothing of the subject explains the subject. */
import type { Json } from '../../../src/base/json/json.ts'
import { memoized } from '../../../src/base/memo.ts'

export type Type =
  | 'boolean'
  | 'integer'
  | 'double'
  | 'biginteger'
  | 'bigdecimal'
  | 'string'
  | 'date'
  | 'binary'
  | 'uid'
  | 'any'

export type Node = Simple | ObjectNode | ArrayNode
export interface Simple {
  readonly kind: 'simple'
  readonly type: Type
  /** Values to choose from, where few are wanted so that documents meet. */
  readonly pool?: readonly Json[]
  /** Whether it stands for the number of documents that a reference joins. */
  readonly isCount?: boolean
}
export interface ObjectNode {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Node>
}
export interface ArrayNode {
  readonly kind: 'array'
  readonly element: Simple | ObjectNode
  /** Whether it stands for the documents that a reference joins. */
  readonly isJoined?: boolean
}

export type Family = 'boolean' | 'number' | 'text' | 'date'

const FAMILIES: Readonly<Record<Type, Family | undefined>> = {
  boolean: 'boolean',
  integer: 'number',
  double: 'number',
  biginteger: 'number',
  bigdecimal: 'number',
  string: 'text',
  uid: 'text',
  date: 'date',
  binary: undefined,
  any: undefined,
}

export function familyOf(node: Node): Family | undefined {
  return node.kind === 'simple' ? FAMILIES[node.type] : undefined
}

/** The node with the fields that every schema has, at the root and beside each array; the same one each time. */
export const withPredefined = memoized((root: ObjectNode): ObjectNode => {
  const fields = new Map(counted(root).fields)
  fields.set('objectType', { kind: 'simple', type: 'string' })
  return { kind: 'object', fields }
})

function counted(node: ObjectNode): ObjectNode {
  const fields = new Map<string, Node>()
  for (const [name, field] of node.fields) {
    fields.set(name, deepened(field))
    if (field.kind === 'array') fields.set(`${name}#`, { kind: 'simple', type: 'integer' })
  }
  return { kind: 'object', fields }
}

function deepened(field: Node): Node {
  if (field.kind === 'object') return counted(field)
  if (field.kind === 'array' && field.element.kind === 'object') {
    return { kind: 'array', element: counted(field.element) }
  }
  return field
}

/** The `fields` of the schema document. */
export function printFields({ fields }: ObjectNode): Json {
  return Object.fromEntries([...fields].map(([name, node]) => [name, printNode(node)]))
}

function printNode(node: Node): Json {
  switch (node.kind) {
    case 'simple':
      return { type: node.type }
    case 'object':
      return { type: 'object', fields: printFields(node) }
    case 'array':
      return { type: 'array', items: printNode(node.element) }
  }
}
