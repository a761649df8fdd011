/** What every object of the API has; the rest is for those who know the kind. */
export interface KubeObject {
  readonly metadata?:
    | {
        readonly name?: string | undefined
        readonly namespace?: string | undefined
        readonly resourceVersion?: string | undefined
      }
    | undefined
}

/** A change of one object. */
export interface ObjectEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: T
}
