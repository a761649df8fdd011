/** What one way of running pods can do. A runtime may have several, each with a name: its handlers. */
interface HandlerFeatures {
  readonly userNamespaces: boolean
  readonly recursiveReadOnlyMounts: boolean
}

/** What the runtime of this node can do beyond what every runtime can. */
export interface RuntimeFeatures {
  /** By name; the one that pods get when they name none has the empty name. */
  readonly handlers: ReadonlyMap<string, HandlerFeatures>
  /** It can keep the groups that an image gives its user away from a container. */
  readonly supplementalGroupsPolicy: boolean
  /** It can mount the content of an image into a container: not, whole, or also a part of it. Unknown: trying shows it. */
  readonly imageVolumes: 'none' | 'whole' | 'parts' | 'unknown'
  /** False where it is known to end containers by the signal of their image, whatever their spec says. */
  readonly stopSignals: boolean
}
