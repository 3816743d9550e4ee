/** Why a field is hidden: the access list that decides, as the service explains it. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { client, viewedAs } from '../../app/session.ts'
import { type JsonObject, parseJson, printJson } from '../../client/json.ts'
import type { Target } from '../../client/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure, Progress } from '../../parts/notices.tsx'

interface AccessReasonProps extends Target {
  readonly field: string
  readonly onClose: () => void
}

export function AccessReason({ entity, version, field, onClose }: AccessReasonProps): JSX.Element {
  const { roles, principal, claims } = viewedAs()
  const decision = useLoaded(async () => {
    const claimed = claims === '' ? {} : { claims: parseJson(claims) as JsonObject }
    const named = principal === '' ? {} : { principal }
    return await client.explainAccess({ entity, version, field, op: 'find', roles, ...named, ...claimed })
  }, [field])
  const { value } = decision
  return (
    <Dialog title={`Why is ${field} hidden?`} onClose={onClose}>
      {decision.failure !== undefined && <Failure failure={decision.failure} />}
      {!value && decision.isLoading && <Progress label="Asking the service" />}
      {value && (
        <dl class="facts">
          <dt>Decision</dt>
          <dd>
            <span class={`badge ${value.decision}`}>{value.decision}</span>
          </dd>
          {value.reason !== undefined && (
            <>
              <dt>Reason</dt>
              <dd>{value.reason}</dd>
            </>
          )}
          {value.rule && (
            <>
              <dt>Rule</dt>
              <dd>
                <code>{value.rule.at}</code> lists <code>{printJson(value.rule.list)}</code>
              </dd>
            </>
          )}
          {value.where && (
            <>
              <dt>Only where</dt>
              <dd>
                <code>{printJson(value.where)}</code>
              </dd>
            </>
          )}
          <dt>Caller</dt>
          <dd>
            {roles.length === 0 ? 'no roles' : roles.join(', ')}
            {principal !== '' && `, called ${principal}`}
          </dd>
        </dl>
      )}
    </Dialog>
  )
}
