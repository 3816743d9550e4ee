/** Metrics and their values, in the form that the Prometheus registry expects. */
export interface Sample {
  readonly value: number
  readonly labels: Labels
  /** The name of a part of a histogram, which differs from the name of the metric. */
  readonly metricName?: string
}

/** A metric, whose values are made when it is read. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'histogram' | 'gauge'
  readonly help: string
  readonly samples: () => readonly Sample[]
}

export type Labels = Readonly<Record<string, string | number>>
