/** Computes the access of single roles from metadata alone, for access reports and lint. */
import { ServiceError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { spend } from '../base/work/work.ts'
import { type AccessEntry, type RoleList, roleOf } from '../schema/field.ts'
import { namedRoles } from '../schema/named-roles.ts'
import { NO, REACHES, type Ranks, type Reach, type Reaches, WHERE, YES } from '../schema/reach.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { type Caller, applicableEntries, callerWith } from './caller.ts'
import { type Question, decidingLists, selects } from './deciding-lists.ts'
import { type RoleClasses, roleClasses } from './role-classes.ts'

/** The access of a caller with exactly these roles. */
export function reachOf(question: Question, roles: readonly string[]): Reach {
  const caller = callerWith(roles)
  const reaches = decidingLists(question, caller).map(({ list }) => reachBy(list, caller))
  if (reaches.includes('no')) return 'no'
  return reaches.includes('where') ? 'where' : 'yes'
}

/**
 * The access of each role alone. Roles that no list distinguishes share a class, and equal chains of lists share a node,
 * so that the time grows with the size of the lists and not with fields times roles.
 */
export function reachesIn(schemas: readonly Schema[]): Reaches {
  const roles = namedRoles(schemas)
  const known = roleClasses(schemas)
  const ranksBy = memoized((list: RoleList) => ranksOf(list, known))
  const roots = new Map<string, Node>()
  const rootBy = ({ access }: Schema, operation: EntityOperation): Node => {
    const lists = selects(operation) ? [access[operation], access.find] : [access[operation]]
    const key = lists.map(known.numberOf).join()
    const found = roots.get(key)
    if (found) return found
    const [own, find] = lists.map(ranksBy)
    // Updates and deletes select only documents that the role may find, unless it has no find access at all.
    const ranks = find ? own!.map((rank, i) => (find[i] === NO ? rank : least(rank, find[i]!))) : own!
    const made = { ranks, below: new Map() }
    roots.set(key, made)
    return made
  }
  const rootsOf = memoized((schema: Schema) => ({
    find: rootBy(schema, 'find'),
    insert: rootBy(schema, 'insert'),
    update: rootBy(schema, 'update'),
    delete: rootBy(schema, 'delete'),
  }))
  return {
    roles,
    classes: roles.map(known.classOf),
    classOf: known.classOf,
    ranks(schema, operation, field) {
      let node = rootsOf(schema)[operation]
      if (!field || operation === 'delete') return node.ranks
      for (const list of field.roles[operation]) node = further(node, list, { ranksBy, known })
      return node.ranks
    },
  }
}

/** The access of every role to every field. Throws if the table would be longer than `maxBytes`. */
export function accessTable(schema: Schema, maxBytes = Infinity): JsonObject {
  const { roles, classes, ranks } = reachesIn([schema])
  const rowOf = memoized((row: Ranks) =>
    Object.fromEntries(roles.map((role, i) => [role, REACHES[row[classes[i]!]!]!])),
  )
  const row = (operation: EntityOperation): JsonObject => rowOf(ranks(schema, operation))
  const fields = [...allFields(schema.root.fields)]
  // A lower bound: every row names every role, and the shortest value is "no".
  const rowBytes = roles.reduce((sum, role) => sum + Buffer.byteLength(role) + ROLE_BYTES, 0)
  const bytes = fields.length * OPERATIONS.length * rowBytes
  if (bytes > maxBytes) throw tooLarge(schema)
  // The rows are printed later, in one section that nothing can interrupt.
  spend(bytes / BYTES_PRINTED_PER_STEP)
  return {
    entity: schema.entity,
    version: schema.version,
    status: schema.status,
    roles,
    access: { find: row('find'), insert: row('insert'), update: row('update'), delete: row('delete') },
    fields: fields.map((field) => {
      const [find, insert, update] = OPERATIONS.map((operation) => rowOf(ranks(schema, operation, field)))
      return { path: field.path, find: find!, insert: insert!, update: update! }
    }),
  }
}

const OPERATIONS = ['find', 'insert', 'update'] as const
/** The length of `"":"no",` */
const ROLE_BYTES = 8
const BYTES_PRINTED_PER_STEP = 10

/** A trie over chains of lists: the ranks after the lists so far, and a child for each further list, by its number. */
interface Node {
  readonly ranks: Ranks
  readonly below: Map<number, Node>
}

function further(
  { ranks, below }: Node,
  list: RoleList,
  { ranksBy, known }: { readonly ranksBy: (list: RoleList) => Ranks; readonly known: RoleClasses },
): Node {
  const number = known.numberOf(list)
  const found = below.get(number)
  if (found) return found
  const own = ranksBy(list)
  const made = { ranks: ranks.map((rank, i) => least(rank, own[i]!)), below: new Map() }
  below.set(number, made)
  return made
}

/** One rank for each class of roles: `noone` beats `anyone`, which beats a named role, as in `caller.ts`. */
function ranksOf(list: RoleList, { count, classOf }: RoleClasses): Ranks {
  const ranks = new Uint8Array(count)
  if (list.some((entry) => roleOf(entry) === 'noone')) return ranks
  const rankOf = (entry: AccessEntry): number => (typeof entry === 'string' ? YES : WHERE)
  for (const entry of list) if (roleOf(entry) === 'anyone') ranks.fill(Math.max(ranks[0]!, rankOf(entry)))
  for (const entry of list) {
    const own = classOf(roleOf(entry))
    if (roleOf(entry) !== 'anyone') ranks[own] = Math.max(ranks[own]!, rankOf(entry))
  }
  return ranks
}

function least(a: number, b: number): number {
  return a < b ? a : b
}

function tooLarge({ entity, version }: Schema): ServiceError {
  const problem = `who may do what in version ${version} of "${entity}" is too much for one answer; ask about one caller by POST /metadata/access/explain`
  return new ServiceError('crud:ResultSizeTooLarge', problem)
}

function reachBy(list: RoleList, caller: Caller): Reach {
  const entries = applicableEntries(list, caller)
  if (entries.length === 0) return 'no'
  return entries.some((entry) => typeof entry === 'string') ? 'yes' : 'where'
}
