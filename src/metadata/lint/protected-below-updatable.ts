/** A member that its readers may not update prevents them from removing a container that they may update. */
import { type Field, type Fields, isComputed, isRegenerated } from '../../schema/field.ts'
import { NO, type Ranks, type Reaches } from '../../schema/reach.ts'
import type { Schema } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/fields-on-path.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, rolesOf } from './subject.ts'

export function* protectedBelowUpdatable({ schemas, reaches }: Subject): Generator<Finding> {
  for (const schema of schemas) {
    for (const { container, member } of membersIn(schema.root.fields)) {
      const who = affected(reaches, schema, { container, member })
      if (who.length === 0) continue
      yield {
        severity: 'hint',
        code: 'protected-below-updatable',
        at: `/schema${fieldPointer(member.path)}/access/update`,
        version: schema.version,
        msg:
          `${listed(who)} may read "${member.path}" but not update it, at least in some documents, and so cannot remove ` +
          `"${container.path}", which they may update, while it holds the member; if that is not meant, let them ` +
          'update the member, or hide it from them',
      }
    }
  }
}

interface Placed {
  readonly container: Field
  readonly member: Field
}

/** Members inside a container that can be removed; top-level fields have none. */
function* membersIn(fields: Fields, container?: Field): Generator<Placed> {
  for (const member of fields.values()) {
    const isKept = member.kind !== 'reference' && !isComputed(member) && !isRegenerated(member)
    if (container && isKept) yield { container, member }
    const below = member.kind === 'array' ? member.element : member
    if (below.kind === 'object') yield* membersIn(below.fields, below)
  }
}

/** A member without lists of its own has the same access as its container. */
function affected(reaches: Reaches, schema: Schema, { container, member }: Placed): readonly string[] {
  if (member.roles.update.length === container.roles.update.length) return []
  const ranks = (field: Field): Ranks => reaches.ranks(schema, 'update', field)
  const [around, own, find] = [ranks(container), ranks(member), reaches.ranks(schema, 'find', member)]
  return rolesOf(
    reaches,
    (index) => around[index] !== NO && find[index] !== NO && own[index]! < around[index]!,
  )
}
