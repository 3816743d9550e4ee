/** A hook whose configuration belongs to another program creates no events. */
import { pointer } from '../../../base/json/json.ts'
import { isWatching } from '../../documents/hooks.ts'
import type { Finding } from '../../finding.ts'
import { type Subject, quoted } from '../subject.ts'

export function* inertHook({ info }: Subject): Generator<Finding> {
  for (const [i, hook] of info.hooks.entries()) {
    if (isWatching(hook)) continue
    const keys = quoted(Object.keys(hook.configuration ?? {}))
    const msg =
      `the configuration of the hook "${hook.name}" has only ${keys}, which Smalt does not know, so the hook creates ` +
      'no events; add "kind": "notification" or "audit" to receive events, or remove the hook'
    yield { severity: 'warning', code: 'inert-hook', at: pointer('/entityInfo/hooks', i), msg }
  }
}
