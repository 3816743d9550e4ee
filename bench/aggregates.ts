/** Aggregates over all documents, beside the same SQL written by hand. */
import { ENTITY, type Json, type Sent, request } from './documents.ts'
import { BARE, type Figure } from './figure.ts'

/** The priority of a fifth of the documents. */
export const SUMMED_PRIORITY = 3

export function aggregateFigures(): readonly Figure[] {
  return [
    {
      name: 'groups',
      title: 'count by indexed field, all documents',
      connections: 2,
      requests: [aggregate({ groupBy: ['customer'], values: { n: { $count: true } } }, '"customer":')],
      against: BARE,
      isCompared: true,
    },
    {
      name: 'sum',
      title: 'sum over a fifth of all documents, by scan',
      connections: 2,
      requests: [
        aggregate(
          {
            query: { field: 'priority', op: '=', rvalue: SUMMED_PRIORITY },
            values: { n: { $sum: 'quantity' } },
          },
          '"n":',
        ),
      ],
      against: BARE,
      isCompared: true,
    },
  ]
}

function aggregate(body: Json, expect: string): Sent {
  return { text: request('POST', `/data/aggregate/${ENTITY}`, JSON.stringify(body)), expect }
}
