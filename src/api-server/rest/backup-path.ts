/** A path of our own, for administrators: a POST asks for a copy of the store. */
export const BACKUP_PATH = '/deckhand/backup'
