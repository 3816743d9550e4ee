/** `smalt move`. */
import { defineCommand } from '../command.ts'

export const move = defineCommand({
  name: 'move',
  summary: 'copy a store that is not in use into an empty one, and verify the copy',
  details: 'Locks are not copied. An interrupted move removes what it copied.',
  options: {
    from: { type: 'string', value: 'LOCATION', summary: 'store to copy: postgres://... or sqlite:DIR' },
    to: { type: 'string', value: 'LOCATION', summary: 'empty store to fill' },
    check: { type: 'boolean', summary: 'count and look for obstacles, copy nothing' },
    restart: { type: 'boolean', summary: 'first remove what an unfinished move left in the target' },
    json: { type: 'boolean', summary: 'print the summary as JSON' },
  },
  configuration: 'refused',
  examples: [
    {
      command: 'smalt move --from sqlite:./data --to postgres://user:password@host/database',
      summary: 'copy everything into an empty PostgreSQL store',
    },
    {
      command: 'smalt move --check --from sqlite:./data --to postgres://user:password@host/database',
      summary: 'find out whether that would work',
    },
  ],
  async run({ flags }) {
    const { runMove } = await import('../run/move.ts')
    await runMove(flags)
  },
})
