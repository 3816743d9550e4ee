/**
 * Bounds a statement with conditions on references. Each of them is a subselect, and PostgreSQL plans them in time and memory that
 * grow faster than their number.
 */
import { ServiceError } from '../../../base/errors.ts'
import { nodesOf } from '../../../lang/query.ts'
import { sql } from '../../sql/fragment.ts'
import type { StatementSize } from '../../sql/translation.ts'

/** Planning so many takes about half a second and 100 MB at most. */
export const MAX_REFERENCES = 200

/**
 * The planner considers the joins of one level together, in whatever order they could be made. It makes none of a condition
 * inside of another expression, and plans its subselect by itself.
 */
export const MAX_JOINS = 32

/**
 * Where a key may be missing, the conditions behind a reference are written twice, for rows with a key and for rows without:
 * through five references, 32 times.
 */
const MAX_REPEATED = 1_000
const REPEATED_BY_REFERENCE = 20

export function boundedSize(): StatementSize {
  let references = 0
  let joins = 0
  let repeated = 0
  let repeatedReferences = 0
  return {
    reference(write) {
      // Only those that the request itself asks for are held against it.
      if (++references > MAX_REFERENCES + repeatedReferences) throw tooManyReferences()
      if (++joins <= MAX_JOINS) return write()
      const around = joins
      joins = 0
      const condition = sql`((${write()}) is true)`
      joins = around
      return condition
    },
    mayRepeat(queries) {
      let size = repeated
      let inside = 0
      for (const query of queries) {
        for (const { kind } of nodesOf(query)) {
          if (kind === 'related') inside++
          size += kind === 'related' ? REPEATED_BY_REFERENCE : 1
          if (size > MAX_REPEATED) return false
        }
      }
      repeated = size
      repeatedReferences += inside
      return true
    },
  }
}

function tooManyReferences(): ServiceError {
  const message = `the request has more than ${MAX_REFERENCES} conditions on documents of references; one that leads through several references counts for each of them. Ask for one of several values by $in, for a document that satisfies several conditions by elemMatch, or with fewer conditions`
  return new ServiceError('crud:LimitExceeded', message)
}
