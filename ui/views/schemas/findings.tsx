/** Findings of the service about metadata. */
import type { JSX } from 'preact'
import type { Finding } from '../../client/types.ts'

export function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  return (
    <ul class="findings">
      {findings.map(({ severity, code, at, version, msg }) => (
        <li key={`${code} ${at} ${version ?? ''} ${msg}`}>
          <span class={`badge ${severity === 'warning' ? 'conditional' : ''}`}>{severity}</span>{' '}
          <code>{code}</code>
          <p>{msg}</p>
          <small>
            {at}
            {version !== undefined && ` in ${version}`}
          </small>
        </li>
      ))}
    </ul>
  )
}
