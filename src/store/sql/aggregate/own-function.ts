/** Functions that the service adds to a PostgreSQL database. */
import { createHash } from 'node:crypto'

export interface OwnFunction {
  /** Contains a digest of its definition: an existing function never changes. */
  readonly name: string
  /** SQL that creates it in `schema`, a quoted identifier. */
  readonly create: (schema: string) => string
}

export function ownFunction(purpose: string, signature: string, body: string): OwnFunction {
  const name = `smalt_${purpose}_${createHash('sha256')
    .update(signature + body)
    .digest('hex')
    .slice(0, 8)}`
  return {
    name,
    create: (schema) =>
      `create or replace function ${schema}.${name}${signature} language plpgsql immutable strict parallel safe as $$${body}$$`,
  }
}
