/** `smalt events`. */
import { defineCommand } from '../command.ts'

export const events = defineCommand({
  name: 'events',
  summary: 'list, show, redrive or discard dead letters of a running service',
  details: 'A dead letter is an event that a sink did not accept in 12 attempts.',
  actions: [
    { words: 'dead list', summary: 'list the dead letters of a sink' },
    { words: 'dead show', summary: 'print one dead letter with its event' },
    { words: 'dead redrive', summary: 'send one dead letter again, or all of them' },
    { words: 'dead discard', summary: 'give up one dead letter' },
  ],
  options: {
    sink: { type: 'string', value: 'NAME', summary: 'name of the sink' },
    event: {
      type: 'string',
      value: 'ID',
      summary: 'show, discard: id of the event; redrive: only this event',
    },
    url: { type: 'string', value: 'URL', summary: 'address of the service (http://127.0.0.1:8080)' },
    token: {
      type: 'string',
      value: 'T',
      summary: 'token of the caller; the variable SMALT_TOKEN is safer, because other users cannot see it',
    },
    json: { type: 'boolean', summary: 'list: print JSON' },
  },
  configuration: 'refused',
  examples: [
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
