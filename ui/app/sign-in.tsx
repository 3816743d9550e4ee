/** Asks for a token where the service wants one. It stays in this tab: other tabs and later visits do not have it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { createClient } from '../client/client.ts'
import { useLoaded } from './loading.ts'
import { type Oidc, beginSignIn, oidcSettings } from './oidc.ts'
import { signIn, signInProblemStore, tokenStore } from './session.ts'
import { useStore } from './store.ts'

export function SignIn(): JSX.Element {
  const had = useStore(tokenStore)
  const problem = useStore(signInProblemStore)
  const settings = useLoaded(oidcSettings, [])
  return (
    <main class="sign-in">
      <div class="card">
        <h1>Smalt</h1>
        <p>
          {had === ''
            ? 'This service identifies its callers. Sign in to continue.'
            : 'The token is no longer valid: it expired or was revoked. Sign in again.'}
        </p>
        {settings.value && <WithIssuer oidc={settings.value} />}
        <WithToken isPrimary={!settings.value} />
        <p class="problem" role={problem === '' ? undefined : 'alert'}>
          {problem}
        </p>
      </div>
    </main>
  )
}

function WithIssuer({ oidc }: { readonly oidc: Oidc }): JSX.Element {
  const [isLeaving, setIsLeaving] = useState(false)
  const leave = async (): Promise<void> => {
    setIsLeaving(true)
    signInProblemStore.set('')
    try {
      await beginSignIn(oidc)
    } catch (error) {
      signInProblemStore.set((error as Error).message)
      setIsLeaving(false)
    }
  }
  return (
    <>
      <button type="button" class="primary" disabled={isLeaving} onClick={() => void leave()}>
        Sign in at {new URL(oidc.issuer).host}
      </button>
      <p class="hint">Or with a token:</p>
    </>
  )
}

function WithToken({ isPrimary }: { readonly isPrimary: boolean }): JSX.Element {
  const [token, setToken] = useState('')
  const submit = async (): Promise<void> => {
    const Authorization = `Bearer ${token.trim()}`
    try {
      if (!/^[\x21-\x7e]+$/.test(token.trim()))
        throw new Error('A token has visible characters of ASCII only. Was all of it copied?')
      await createClient({ baseUrl: '', headers: () => ({ Authorization }) }).events({ limit: '1' })
      signIn(token.trim())
    } catch (error) {
      signInProblemStore.set((error as Error).message)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        required
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class={isPrimary ? 'primary' : ''}>
        Sign in
      </button>
      <p class="hint">
        <code>smalt token add --principal ann --role editor</code> makes one. A JSON Web Token of the
        configured issuer works as well.
      </p>
    </form>
  )
}
