/** `smalt aggregate`. */
import { defineCommand } from '../../command.ts'
import {
  CONNECTION_OPTIONS,
  FILTER_DETAILS,
  FORMAT_OPTIONS,
  READ_OPTIONS,
  VERSION_OPTION,
} from './options.ts'

export const aggregate = defineCommand({
  name: 'aggregate',
  summary: 'count, sum and average documents by group',
  details: `${FILTER_DETAILS} Without --by there is one group; without --value the groups alone are printed.`,
  actions: [{ words: 'ENTITY [FILTER]', summary: 'aggregate the documents that match' }],
  options: {
    by: {
      type: 'string',
      multiple: true,
      value: '[NAME=]FIELD[:PERIOD[:ZONE]]',
      summary:
        'group by this field; date:month groups dates by month, date:month:Europe/Zurich in a time zone, shipped=date:month names the key; may be repeated',
    },
    value: {
      type: 'string',
      multiple: true,
      value: 'NAME=FUNCTION',
      summary: 'value of each group: count, or sum, avg, min, max, distinct with a field; may be repeated',
    },
    having: {
      type: 'string',
      value: 'FILTER',
      summary: "filter that groups must match, about the names of the result, such as 'total > 1000'",
    },
    sort: READ_OPTIONS.sort,
    limit: READ_OPTIONS.limit,
    offset: READ_OPTIONS.offset,
    ...VERSION_OPTION,
    ...FORMAT_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  configuration: 'refused',
  examples: [
    {
      command: 'smalt aggregate order --by date:month --value orders=count --value total=sum:amount',
      summary: 'number of orders and turnover by month',
    },
    {
      command:
        'smalt aggregate order --by date:day:Europe/Zurich --value orders=count --having "orders > 10"',
      summary: 'days of Zurich with more than 10 orders',
    },
  ],
  async run(invocation) {
    const { runAggregate } = await import('../../run/data.ts')
    await runAggregate(invocation)
  },
})
