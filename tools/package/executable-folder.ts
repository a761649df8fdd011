/** Where the files of the executable seem to lie. No real file can: what is in front of it is none of a folder's. */
export const FOLDER = '/proc/self/exe/'
