/** `smalt events`. */
import { CONNECTION_OPTIONS } from '../client/connection.ts'
import { defineCommand } from '../command.ts'

export const events = defineCommand({
  name: 'events',
  summary: 'print events of a running service; list, show, redrive or discard dead letters',
  details:
    'Events are printed as lines of JSON, oldest first. A dead letter is an event that a sink did not accept in 12 attempts.',
  actions: [
    { words: '', summary: 'print the events that are stored; with --follow, new ones as they occur' },
    { words: 'dead list', summary: 'list the dead letters of a sink' },
    { words: 'dead show', summary: 'print one dead letter with its event' },
    { words: 'dead redrive', summary: 'send one dead letter again, or all of them' },
    { words: 'dead discard', summary: 'give up one dead letter' },
  ],
  options: {
    follow: { type: 'boolean', summary: 'wait for new events; from now on, or after --since' },
    entity: { type: 'string', value: 'E', summary: 'events of this entity only' },
    hook: { type: 'string', value: 'NAME', summary: 'events of hooks of this name only' },
    operation: { type: 'string', value: 'OP', summary: 'insert, update or delete only' },
    since: { type: 'string', value: 'SEQ', summary: 'events after this number only' },
    sink: { type: 'string', value: 'NAME', summary: 'dead: name of the sink' },
    event: {
      type: 'string',
      value: 'ID',
      summary: 'dead show, discard: id of the event; dead redrive: only this event',
    },
    json: { type: 'boolean', summary: 'dead list: print JSON' },
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    { command: 'smalt events --follow --entity order', summary: 'print changes of orders as they occur' },
    {
      command: 'smalt events dead redrive --sink kitchen',
      summary: 'send all dead letters of kitchen again',
    },
    { command: 'smalt events dead list --sink kitchen --json', summary: 'list them as JSON' },
  ],
  async run({ words, flags, environment }) {
    const { runEvents } = await import('../run/events.ts')
    await runEvents(words, flags, environment)
  },
})
