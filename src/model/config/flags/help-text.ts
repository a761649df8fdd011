import { formatGoDuration } from '../values/go-duration.ts'
import { listFlagRows, type FlagRow } from './flag-rows.ts'

const HEADING = `kubelet: runs the pods of one machine.

Usage: kubelet [flags]

Most settings belong into the file of --config; the flags that set a field of it are marked with its name.
"_" and "-" mean the same in names. Booleans are set by --name and cleared by --name=false.`

const COLUMN = 50

function formatDefault({ field, flag }: FlagRow): string {
  const value = field.unset
  if (value === undefined || value === '' || value === 'false' || value === false) return ''
  if (flag.type === 'duration') return ` (default ${formatGoDuration(Number(value))})`
  if (typeof value === 'object') return Array.isArray(value) && value.length > 0 ? ` (default ${value.join(',')})` : ''
  return ` (default ${JSON.stringify(value).replaceAll('"', '')})`
}

function formatRow(row: FlagRow): string {
  const { flag, field, path, target } = row
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `
  const type = flag.type === 'bool' || flag.type === 'version' ? '' : ` ${flag.type}`
  const name = `  ${short}--${flag.name}${type}`
  const setting = target === 'configuration' ? ` [${path.join('.')}]` : ''
  const mark = flag.deprecated ? ' DEPRECATED' : ''
  return `${name.padEnd(COLUMN)}  ${field.about}${formatDefault(row)}${setting}${mark}`
}

/** The text of --help: every flag, by group, with type, default, configuration field and deprecation. */
export function formatHelp(): string {
  const groups = Map.groupBy(listFlagRows(), (row) => row.group)
  const sections = [...groups].map(([title, rows]) => {
    const sorted = rows.toSorted((a, b) => (a.flag.name < b.flag.name ? -1 : 1))
    return `${title}:\n${sorted.map(formatRow).join('\n')}`
  })
  return [HEADING, ...sections].join('\n\n')
}
