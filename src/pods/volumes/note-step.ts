/** Shows what is being done for a pod, under its name, while it is being done. */
export type NoteStep = <T>(name: string, work: () => Promise<T>) => Promise<T>
