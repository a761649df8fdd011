/** Notes a step under its name while the work goes on, so that people see what takes its time. */
export type NoteStep = <T>(name: string, work: () => Promise<T>) => Promise<T>
