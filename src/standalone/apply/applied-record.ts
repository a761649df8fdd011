import { readTextIfPresent } from '../../system/files/files-and-folders.ts'
import { groupOfVersion, objectKey } from './applied-object.ts'
import type { AppliedObject, ObjectName } from './applied-object.ts'

/** An object that came from the folder. */
export interface RecordedObject extends ObjectName {
  readonly file: string
}

/** What came from a folder, by key; a missing or damaged file is like an empty one. */
export async function readAppliedRecord(recordFile: string): Promise<ReadonlyMap<string, RecordedObject>> {
  const text = await readTextIfPresent(recordFile)
  try {
    const objects = text === undefined ? [] : (JSON.parse(text) as readonly RecordedObject[])
    return new Map(objects.map((object) => [objectKey(object), object]))
  } catch {
    return new Map()
  }
}

export function formatAppliedRecord(record: ReadonlyMap<string, RecordedObject>): string {
  return `${JSON.stringify([...record.values()])}\n`
}

/** Whether a recorded name is that of an object, whose namespace may be left out. */
export function isRecordOf({ apiVersion, kind, namespace, name }: ObjectName, object: AppliedObject): boolean {
  const { metadata } = object
  const isThere = namespace === '' || namespace === (metadata.namespace || 'default')
  return (
    isThere &&
    groupOfVersion(apiVersion) === groupOfVersion(object.apiVersion) &&
    kind === object.kind &&
    name === metadata.name
  )
}
