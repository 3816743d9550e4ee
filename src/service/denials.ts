/** Fields that a new document holds though its sender may not insert them. */
import type { WriteSight } from '../access/requests.ts'
import { ServiceError } from '../base/errors.ts'
import type { Prepared } from '../schema/document.ts'

/** A denied container stands for everything below it. */
export function denials({ given }: Prepared, { mayInsert }: WriteSight): readonly ServiceError[] {
  const denied: string[] = []
  for (const [path, field] of given) {
    const isTold = denied.some((above) => path.startsWith(`${above}.`))
    if (!isTold && !mayInsert(field)) denied.push(path)
  }
  return denied.map(
    (path) =>
      new ServiceError('crud:insert:NoFieldAccess', `you may not insert "${path}"`, { context: path }),
  )
}
