import { isRecord } from '../../../base/document/is-record.ts'

/** The files of an archive that list its images: an OCI layout has the first, "docker save" the second, many have both. */
export const INDEX_FILES = ['index.json', 'manifest.json'] as const

export type IndexFile = (typeof INDEX_FILES)[number]

const FULL_NAME = 'io.containerd.image.name'
const REFERENCE = 'org.opencontainers.image.ref.name'

/** The names of the images that the file lists; undefined stands for one without a name that others could use. */
export function readArchivedNames(file: IndexFile, text: string): readonly (string | undefined)[] {
  return readEntries(file, text).map((entry) => {
    if (file === 'manifest.json') return firstTag(entry)
    const annotations = isRecord(entry['annotations']) ? entry['annotations'] : {}
    const [full, reference] = [annotations[FULL_NAME], annotations[REFERENCE]]
    if (typeof full === 'string' && full !== '') return full
    // A tag alone says nothing about the image.
    return typeof reference === 'string' && /[/:]/.test(reference) ? reference : undefined
  })
}

/** The file with another name for its only image. */
export function renameImage(file: IndexFile, text: string, name: string): string {
  const [entry, ...others] = readEntries(file, text)
  if (entry === undefined || others.length > 0)
    throw new Error(`it has ${others.length + (entry === undefined ? 0 : 1)} images, and --name is for one`)
  if (file === 'manifest.json') return JSON.stringify([{ ...entry, RepoTags: [name] }])
  const annotations = isRecord(entry['annotations']) ? entry['annotations'] : {}
  const renamed = { ...entry, annotations: { ...annotations, [FULL_NAME]: name, [REFERENCE]: name } }
  return JSON.stringify({ ...(JSON.parse(text) as object), manifests: [renamed] })
}

function readEntries(file: IndexFile, text: string): readonly Readonly<Record<string, unknown>>[] {
  const value = parse(file, text)
  const entries = file === 'manifest.json' ? value : isRecord(value) ? value['manifests'] : undefined
  if (!Array.isArray(entries) || !entries.every(isRecord))
    throw new Error(`its ${file} does not list images as Docker or an OCI layout does`)
  return entries
}

function parse(file: IndexFile, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`its ${file} is not JSON`, { cause })
  }
}

function firstTag(entry: Readonly<Record<string, unknown>>): string | undefined {
  const tags = entry['RepoTags']
  const [first] = Array.isArray(tags) ? (tags as readonly unknown[]) : []
  return typeof first === 'string' ? first : undefined
}
