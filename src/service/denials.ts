/** What a new document holds, or is, though its sender may not insert that. */
import { holds } from '../access/conditions.ts'
import type { WriteSight } from '../access/requests.ts'
import { ServiceError } from '../base/errors.ts'
import type { Prepared } from '../schema/document.ts'

/** A denied container stands for everything below it. Whether the document as a whole is one is asked of sound ones. */
export function denials(
  { given, document, faults }: Prepared,
  { mayInsert, insertRules }: WriteSight,
): readonly ServiceError[] {
  const denied: string[] = []
  for (const [path, field] of given) {
    const isTold = denied.some((above) => path.startsWith(`${above}.`))
    if (!isTold && !mayInsert(field, document)) denied.push(path)
  }
  const problems = denied.map(
    (path) =>
      new ServiceError('crud:insert:NoFieldAccess', `you may not insert "${path}"`, { context: path }),
  )
  if (faults.length > 0 || holds(insertRules, document)) return problems
  return [...problems, new ServiceError('crud:NoAccess', 'you may not insert a document such as this one')]
}
