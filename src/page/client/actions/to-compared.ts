/** An object as far as a person wrote it or is asked about it: without what the API keeps for itself, and without its status. */
export function toCompared(value: object): object {
  const { apiVersion, kind, metadata, status: _, ...others } = value as Readonly<Record<string, unknown>>
  const {
    managedFields: _1,
    resourceVersion: _2,
    generation: _3,
    uid: _4,
    creationTimestamp: _5,
    selfLink: _6,
    ...shown
  } = (metadata ?? {}) as Readonly<Record<string, unknown>>
  return { apiVersion, kind, metadata: shown, ...others }
}
