/** Authentication by one token, which can be revoked. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Authentication } from '../../../src/auth/authentication.ts'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken } from '../../../src/auth/token-file.ts'

export interface TokenAuthentication extends AsyncDisposable {
  readonly auth: Authentication
  readonly token: string
  readonly revoke: () => Promise<void>
}

export async function tokenAuthentication(): Promise<TokenAuthentication> {
  const folder = mkdtempSync(join(tmpdir(), 'smalt-tokens-'))
  const file = join(folder, 'tokens.json')
  const permissions = ['metadata.find'] as const
  const { token } = await addToken(file, { principal: 'ann', roles: ['hr'], permissions })
  const none = { isOpen: false, hasCertificates: false, permissions: {}, origins: [] }
  const auth = await createAuthentication({ ...none, tokens: { file } }, (error) => {
    throw error
  })
  return {
    auth,
    token,
    revoke: async () => rmSync(file),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
