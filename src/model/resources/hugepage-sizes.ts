import { parseQuantity, quantityValue } from './quantity.ts'

const PREFIX = 'hugepages-'
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** The page size a resource is about, as the kernel's cgroup files spell it: "hugepages-2Mi" is "2MB". */
export function hugepageSize(resourceName: string): string | undefined {
  if (!resourceName.startsWith(PREFIX)) return undefined
  let size = quantityValue(parseQuantity(resourceName.slice(PREFIX.length)))
  let unit = 0
  while (size >= 1024n && size % 1024n === 0n && unit < UNITS.length - 1) {
    size /= 1024n
    unit += 1
  }
  return `${size}${UNITS[unit]}`
}
