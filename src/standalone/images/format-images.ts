import { formatTable } from '../format-table.ts'
import { findUsers } from './runtime-image-calls.ts'
import type { ImageContainer, RuntimeImage } from './runtime-image-calls.ts'
import { PAUSE_IMAGE } from './node-images.ts'

const SHORT_ID = 12
const NO_NAME = '<none>'
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Images as a table: one line for each name. */
export function formatImages(images: readonly RuntimeImage[], containers: readonly ImageContainer[]): string {
  const rows = images
    .flatMap((image) => {
      const users = findUsers(image, containers).length
      const names = image.repoTags.length > 0 ? image.repoTags : [image.repoDigests[0] ?? NO_NAME]
      return names.map((name) => [
        name,
        image.id.replace(/^sha256:/, '').slice(0, SHORT_ID),
        formatDecimalBytes(Number(image.size)),
        formatUsers(image, users),
      ])
    })
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0))
  if (rows.length === 0) return 'No images.'
  return formatTable([['IMAGE', 'ID', 'SIZE', 'USED BY'], ...rows])
}

/** Sandboxes are no containers, and a runtime does not list their image. */
function formatUsers({ repoTags }: RuntimeImage, users: number): string {
  if (repoTags.includes(PAUSE_IMAGE)) return 'every pod'
  return users === 0 ? '' : users === 1 ? '1 pod' : `${users} pods`
}

/** As Docker and containerd write sizes, by thousands. */
export function formatDecimalBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1)
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${UNITS[power] ?? ''}`
}
