/** `smalt explain`. */
import { defineCommand } from '../../command.ts'
import { CONNECTION_OPTIONS, FILTER_DETAILS, READ_OPTIONS, VERSION_OPTION } from './options.ts'

export const explain = defineCommand({
  name: 'explain',
  summary: 'print how a find would be executed: its SQL, its indexes',
  details: FILTER_DETAILS,
  actions: [{ words: 'ENTITY [FILTER]', summary: 'explain the find' }],
  options: { ...VERSION_OPTION, ...READ_OPTIONS, ...CONNECTION_OPTIONS },
  configuration: 'refused',
  examples: [
    { command: 'smalt explain employee \'city = "Bern"\'', summary: 'see which index serves this filter' },
  ],
  async run(invocation) {
    const { runExplain } = await import('../../run/data.ts')
    await runExplain(invocation)
  },
})
