/** Under this name the runtime keeps with a container which devices it was made with. */
export const DEVICES_ANNOTATION = 'io.deckhand.container.devices'
