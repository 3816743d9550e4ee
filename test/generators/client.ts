/** The client of generated types, and a list of the operations that it sent. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

export type Schemas = components['schemas']

const baseUrl = process.argv[2]!

export const client = createClient<paths>({
  baseUrl,
  headers: { 'Smalt-Roles': 'admin', 'Smalt-Principal': 'ann' },
})

/** Whose only credentials are tickets. */
export const anonymous = createClient<paths>({ baseUrl })

const sent = new Set<string>()
for (const each of [client, anonymous]) {
  each.use({
    onRequest({ request, schemaPath }) {
      sent.add(`${request.method} ${schemaPath}`)
    },
  })
}

/** Method and path of each operation. */
export function sentOperations(): readonly string[] {
  return [...sent].sort()
}

export const path = { entity: 'book', version: '1.0.0' }
export const everything: Schemas['Projection'] = { field: '*', recursive: true }
export const byTitle: Schemas['Query'] = { field: 'title', op: '=', rvalue: 'Emma' }

interface Called<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

export async function succeeds<T>(call: Promise<Called<T>>, status?: number): Promise<T> {
  const { data, error, response } = await call
  const isExpected = status === undefined ? response.ok : response.status === status
  if (!isExpected) throw new Error(`${response.url} is ${response.status}: ${JSON.stringify(error)}`)
  return data as T
}

/** An answer of several parts has a status of its own, which may say that a part failed. */
export async function completes(
  call: Promise<Called<Schemas['DataResponse'] | string>>,
): Promise<Schemas['DataResponse']> {
  const answer = await succeeds(call)
  if (typeof answer !== 'string' && answer.status === 'COMPLETE') return answer
  throw new Error(`the answer is ${JSON.stringify(answer)}`)
}

/** For what cannot succeed here: the error is a part of the interface, too. */
export async function fails(
  call: Promise<Called<unknown>>,
  code: Schemas['Error']['errorCode'],
): Promise<void> {
  const { error, response } = await call
  if (response.ok || !JSON.stringify(error).includes(`"${code}"`))
    throw new Error(`${response.url} is ${response.status}, not ${code}: ${JSON.stringify(error)}`)
}

export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected: ${what}`)
}
