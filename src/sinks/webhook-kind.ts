/** The kind `webhook`: events are posted to a URL, signed with a secret. */
import type { JsonObject } from '../base/json/json.ts'
import { Type } from '../base/json/shape.ts'
import { isPrivateAddress } from './addresses.ts'
import { hostOf } from './host.ts'
import { refusal } from './refusal.ts'
import { secretKey } from './signature.ts'
import type { NetworkOptions, SinkKind } from './sink-kind.ts'
import { type WebhookDefinition, openWebhook } from './webhook.ts'

const SECRET_FORM = 'must be a string: "whsec_" and 24 to 64 random bytes in base64'

export const webhook: SinkKind<WebhookDefinition> = {
  kind: 'webhook',
  shape: {
    secret: {
      shape: Type.String({
        description: 'What events are signed with: whsec_ and 24 to 64 random bytes in base64.',
        writeOnly: true,
      }),
      shown: Type.String({ description: 'Masked: nobody can read it again.' }),
      expected: SECRET_FORM,
      noun: 'a secret',
    },
  },
  read(body, { allowPrivateAddresses, replaced }) {
    checkUrl(body['url'] as string, { allowPrivateAddresses })
    const secret = (body['secret'] as string | undefined) ?? replaced?.secret
    if (secret === undefined || !secretKey(secret)) throw refusal(`"secret" ${SECRET_FORM}`, '/secret')
    return { secret }
  },
  show: (): JsonObject => ({ secret: 'whsec_***' }),
  open: openWebhook,
}

/**
 * Checks a literal address only. A host name is resolved at each send, and its addresses are checked then.
 */
function checkUrl(url: string, { allowPrivateAddresses }: NetworkOptions): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw refusal('"url" must be an absolute http or https URL', '/url')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw refusal('"url" must hold no user name and no password', '/url')
  }
  const { address } = hostOf(parsed)
  if (address !== undefined && !allowPrivateAddresses && isPrivateAddress(address)) {
    const way = 'events.allowPrivateAddresses allows them'
    throw refusal(`"url" leads to a private, loopback or link-local address; ${way}`, '/url')
  }
}
