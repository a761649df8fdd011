/** The images of sandboxes: the first that Docker has, else the last, which is pulled. `deckhand up` makes the first from a program of the machine. */
export const PAUSE_IMAGES: readonly string[] = ['deckhand.local/pause:1', 'registry.k8s.io/pause:3.10']
