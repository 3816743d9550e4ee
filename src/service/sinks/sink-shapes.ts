/** The shapes of sinks and dead letters, for the OpenAPI document. */
import { type Shape, Type } from '../../base/json/shape.ts'
import { SinkShape, kindMembers } from '../../sinks/definition.ts'
import { EventShape } from '../events/event-shapes.ts'

const text = (description: string): Shape => Type.String({ description })
const count = (description: string): Shape =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The request that creates or replaces a sink. */
export const SinkRequestShape = Type.Object(
  {
    ...optionalNamed(SinkShape.properties, ['url', 'roles']),
    datasource: Type.Optional(
      text('Whose events, where there are several datasources; that of the entity, or the default one.'),
    ),
  },
  { additionalProperties: false },
)

/** `Optional` has an effect only while shapes are combined into an object, so it is applied here. */
function optionalNamed(
  properties: Readonly<Record<string, Shape>>,
  required: readonly string[],
): Readonly<Record<string, Shape>> {
  const entries = Object.entries(properties).map(([name, shape]) => [
    name,
    required.includes(name) ? shape : Type.Optional(shape),
  ])
  return Object.fromEntries(entries) as Readonly<Record<string, Shape>>
}

export const SinkReplyShape = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  url: Type.String(),
  ...kindMembers(({ shown }) => Type.Optional(shown)),
  roles: Type.Array(Type.String(), { description: 'It sees what a caller with these would.' }),
  filter: { ...SinkShape.properties['filter'] },
  datasource: text('Whose events.'),
  configured: Type.Boolean({ description: 'Whether it stands in the configuration, and is changed there.' }),
  status: Type.Enum(['active', 'failing', 'disabled']),
  position: count('All events up to this number were delivered, or wait for their turn, or are dead.'),
  failures: count('Since the last delivery.'),
  retryAt: Type.Optional(text('When it is tried next, where it fails all the time.')),
  warnings: Type.Optional(
    Type.Array(
      Type.Object({
        severity: Type.Enum(['warning']),
        code: Type.String(),
        at: Type.String(),
        msg: Type.String(),
      }),
      { description: 'What has no effect, such as an entity that does not exist.' },
    ),
  ),
})

export const SinkListShape = Type.Object({ sinks: Type.Array(SinkReplyShape) })

const letterMembers = {
  id: text('Of the event.'),
  seq: count('Number of the event.'),
  entity: Type.String(),
  hook: Type.String(),
  operation: Type.Enum(['insert', 'update', 'delete']),
  date: text('When it happened.'),
  attempts: count('How often it was sent.'),
  error: text('Why it was not delivered the last time.'),
  held: count('Later events of the same document, which wait for this one.'),
}

export const DeadLettersShape = Type.Object({
  dead: Type.Array(Type.Object(letterMembers), { description: 'In the order of events.' }),
  next: count('To be passed as `since`.'),
})

export const DeadLetterShape = Type.Object({ ...letterMembers, event: Type.Optional(EventShape) })

export const RedrivenShape = Type.Object({ redriven: count('How many are tried again.') })
export const DiscardedShape = Type.Object({ discarded: Type.Boolean() })
export const RemovedShape = Type.Object({ removed: Type.Boolean() })
