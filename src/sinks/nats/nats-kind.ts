/** The kind `nats`: events are published to a stream of NATS JetStream. */
import { Type } from '../../base/json/shape.ts'
import type { SinkKind } from '../sink-kind.ts'
import { CredentialsShape, type NatsDefinition, readNats, showCredentials } from './nats-definition.ts'
import { openNats } from './nats.ts'

const SubjectShape = Type.String({ description: 'What the subjects of NATS begin with.' })

export const nats: SinkKind<NatsDefinition> = {
  kind: 'nats',
  shape: {
    subject: { shape: SubjectShape, shown: SubjectShape, expected: 'must be a string', noun: 'a subject' },
    credentials: {
      shape: CredentialsShape,
      shown: Type.Object({}, { description: 'Masked, all but the name of the user.' }),
      expected: 'may hold user and password, or token, nkey or creds (strings)',
      noun: 'credentials',
    },
  },
  read: readNats,
  show: ({ subject, credentials }) => ({
    subject,
    ...(credentials && { credentials: showCredentials(credentials) }),
  }),
  open: openNats,
}
