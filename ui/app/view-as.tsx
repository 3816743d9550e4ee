/** View as: the roles, the name and the claims with which requests are sent. Open mode believes them; with a token it shows the token. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isObject, parseJson, textOf } from '../client/json.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { useLoaded } from './loading.ts'
import { change, usePlace } from './place.ts'
import { client, signIn, signedOutStore, tokenStore, viewedAs } from './session.ts'
import { useStore } from './store.ts'
import { forgetUnsaved } from './unsaved.ts'

export function ViewAs({ onOpen }: { readonly onOpen: () => void }): JSX.Element {
  usePlace()
  const token = useStore(tokenStore)
  const { roles, principal, claims } = viewedAs()
  const named = [
    ...roles,
    ...(principal === '' ? [] : [`“${principal}”`]),
    ...(claims === '' ? [] : ['claims']),
  ]
  const text = token !== '' ? 'by token' : named.join(', ')
  return (
    <button type="button" class={text === '' ? 'as' : 'as chosen'} title="View as (a)" onClick={onOpen}>
      <Icon name="user" />
      <span class="label">View as</span> <strong>{text === '' ? 'anyone' : text}</strong>
    </button>
  )
}

const SPECIAL = ['anyone', 'noone']

export function ViewAsDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const token = useStore(tokenStore)
  if (token !== '') return <TokenDialog onClose={onClose} />
  return <RolesDialog onClose={onClose} />
}

function TokenDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Signed in with a token" onClose={onClose}>
      <p>
        The service decides by the token what you see. To see the data as somebody else, sign in with a token
        that has other roles.
      </p>
      <footer>
        <button
          type="button"
          class="danger"
          onClick={() => {
            signIn('')
            forgetUnsaved()
            signedOutStore.set(true)
            onClose()
          }}
        >
          Sign out
        </button>
      </footer>
    </Dialog>
  )
}

function RolesDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const current = viewedAs()
  const [roles, setRoles] = useState(current.roles)
  const [principal, setPrincipal] = useState(current.principal)
  const [claims, setClaims] = useState(current.claims)
  const [problem, setProblem] = useState('')
  const [other, setOther] = useState('')
  const known = useLoaded(async () => (await client.roles()).map(({ role }) => textOf(role)), [])
  const names = [...new Set([...(known.value ?? []), ...roles])]
    .filter((each) => !SPECIAL.includes(each))
    .sort()
  const toggle = (role: string): void =>
    setRoles(roles.includes(role) ? roles.filter((each) => each !== role) : [...roles, role])
  const add = (): readonly string[] => {
    const added = other.split(/[\s,]+/).filter((each) => each !== '')
    return [...new Set([...roles, ...added])]
  }
  return (
    <Dialog title="View as" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const wrong = claimsProblem(claims)
          setProblem(wrong)
          if (wrong !== '') return
          change({ as: add().join(','), who: principal.trim(), claims: claims.trim(), doc: undefined })
          onClose()
        }}
      >
        <p>Requests are sent with these roles. Fields and documents that they may not read vanish.</p>
        <fieldset class="choices">
          <legend>Roles</legend>
          {names.map((role) => (
            <label key={role} class="check chip">
              <input type="checkbox" checked={roles.includes(role)} onChange={() => toggle(role)} />
              <span>{role}</span>
            </label>
          ))}
          {names.length === 0 && <p class="hint">No access list names a role yet.</p>}
        </fieldset>
        <label>
          Other roles, by comma
          <input type="text" value={other} onInput={(event) => setOther(event.currentTarget.value)} />
        </label>
        <label>
          Name of the caller
          <input type="text" value={principal} onInput={(event) => setPrincipal(event.currentTarget.value)} />
        </label>
        <label>
          Claims, for row rules
          <input
            type="text"
            class="code"
            spellcheck={false}
            placeholder={'{"regions": ["north"]}'}
            aria-invalid={problem !== ''}
            aria-describedby="claims-problem"
            value={claims}
            onInput={(event) => setClaims(event.currentTarget.value)}
          />
        </label>
        <p id="claims-problem" class="problem" role={problem === '' ? undefined : 'alert'}>
          {problem}
        </p>
        <footer>
          <button
            type="button"
            onClick={() => {
              change({ as: '', who: '', claims: '', doc: undefined })
              onClose()
            }}
          >
            Nobody in particular
          </button>
          <button type="submit" class="primary">
            View
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function claimsProblem(text: string): string {
  if (text.trim() === '') return ''
  try {
    if (isObject(parseJson(text))) return ''
  } catch {
    // the same advice as for JSON that is no object
  }
  return 'Claims are a JSON object, such as {"regions": ["north"]}.'
}
