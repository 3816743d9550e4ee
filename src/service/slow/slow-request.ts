/** A slow request, as it is kept and shown. */

/** Plain data, which worker threads send to the main thread. It contains no value of a document or a request. */
export interface SlowRequest {
  /** When it began. */
  readonly at: string
  readonly operation: string
  readonly entity: string
  readonly version?: string
  readonly ms: number
  /** Present if the request failed as a whole. */
  readonly errorCode?: string
  readonly matched?: number
  readonly modified?: number
  readonly returned?: number
  /** The query without its literals. */
  readonly query?: string
  readonly sort?: string
  /** The fields of an index that can lead to the matches; absent if there is a query and no such index. */
  readonly index?: string
}

export type OnSlow = (slow: SlowRequest) => void
