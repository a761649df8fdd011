interface Dated {
  readonly metadata?:
    | { readonly name?: string | undefined; readonly creationTimestamp?: string | undefined }
    | undefined
}

/** The one that was made last; of those made in the same second the first by name. */
export function newestOf<T extends Dated>(objects: readonly T[]): T | undefined {
  const [newest] = objects.toSorted((a, b) => {
    const [from, to] = [a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? '']
    if (from !== to) return from < to ? 1 : -1
    return (a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1
  })
  return newest
}
