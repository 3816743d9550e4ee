/**
 * Finds operations that nobody may perform and fields that nobody may read: usually an access list was
 * forgotten.
 */
import { memoized } from '../../base/memo.ts'
import { isComputed, roleOf } from '../../schema/field.ts'
import { NO, type Ranks } from '../../schema/reach.ts'
import { type EntityOperation, type Schema, allFields } from '../../schema/schema.ts'
import { fieldPointer, fieldsOnPath } from '../../schema/fields-on-path.ts'
import type { Finding } from '../finding.ts'
import type { Subject } from './subject.ts'

type Report = Pick<Finding, 'severity' | 'msg'>

const OPERATIONS = ['find', 'insert', 'update', 'delete'] as const

export function* noAccess(subject: Subject): Generator<Finding> {
  for (const schema of subject.schemas) {
    const denied = OPERATIONS.filter((operation) => isNobodys(subject, schema, operation))
    if (denied.length === OPERATIONS.length) {
      yield finding(schema, '/schema/access', {
        severity: 'warning',
        msg: 'nobody may do anything with documents of this version; give it access lists, or disable it',
      })
      continue
    }
    yield* forgottenLists(schema, denied)
    if (!denied.includes('find')) yield* unreadFields(subject, schema)
  }
}

/** `noone` in a list shows that the denial is intended. */
function* forgottenLists(schema: Schema, denied: readonly EntityOperation[]): Generator<Finding> {
  for (const operation of denied) {
    if (schema.access[operation].some((entry) => roleOf(entry) === 'noone')) continue
    yield finding(schema, `/schema/access/${operation}`, {
      severity: 'hint',
      msg: `nobody may ${operation} documents; name the roles that may, or write "noone" if that is meant`,
    })
  }
}

function* unreadFields(subject: Subject, schema: Schema): Generator<Finding> {
  const { reaches, access } = subject
  const isUnread = memoized((ranks: Ranks) => ranks.every((rank) => rank === NO))
  // Fields below a reported field are not reported again.
  let reported: string | undefined
  for (const field of allFields(schema.root.fields)) {
    const { path } = field
    if (isComputed(field) || (reported !== undefined && path.startsWith(reported))) continue
    if (!isUnread(reaches.ranks(schema, 'find', field))) continue
    reported = `${path}.`
    const trail = fieldsOnPath(schema, path)!
    const together = access.reachOf({ schema, operation: 'find', trail }, reaches.roles)
    yield finding(
      schema,
      `/schema${fieldPointer(path)}/access/find`,
      together === 'no' ? byNobody(path) : byNoneAlone(path),
    )
  }
}

function byNobody(path: string): Report {
  return {
    severity: 'hint',
    msg: `nobody may read "${path}"; if that is not meant, take "noone" out of its list`,
  }
}

function byNoneAlone(path: string): Report {
  return {
    severity: 'warning',
    msg:
      `no role alone may read "${path}": the lists on the way down to it have no role in common; add one to ` +
      'all of them',
  }
}

function isNobodys({ access, reaches }: Subject, schema: Schema, operation: EntityOperation): boolean {
  return access.reachOf({ schema, operation }, reaches.roles) === 'no'
}

function finding({ version }: Schema, at: string, report: Report): Finding {
  return { code: 'no-access', at, version, ...report }
}
