import { parseQuantity } from '../../resources/quantity.ts'
import { object, objectList } from '../kinds/collection-kinds.ts'
import { parsePairs } from '../kinds/flag-forms.ts'
import { attempt, bool, choice, duration, int32, level, path, quantity, text } from '../kinds/scalar-kinds.ts'
import { parseGoInteger } from '../values/go-scalars.ts'

function findLogsFolderProblem(value: string): string | undefined {
  if (!value.startsWith('/')) return 'expected an absolute path'
  if (/[^\u0020-\u007e]/.test(value)) return 'expected ASCII characters only'
  const clean =
    value === '/' ||
    value
      .slice(1)
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..')
  return clean ? undefined : 'expected a path without "..", ".", "//" or a slash at the end'
}

function parseVmodule(
  texts: readonly string[],
): readonly { readonly filePattern: string; readonly verbosity: number }[] {
  return parsePairs(texts.at(-1) ?? '', { separator: '=' }).map(([filePattern, value]) => {
    const verbosity = Number(parseGoInteger(value) ?? -1)
    if (filePattern === '' || verbosity < 0 || verbosity > 2 ** 31 - 1) throw new Error('expected pattern=N,…')
    return { filePattern, verbosity }
  })
}

function outputFields(format: 'text' | 'json') {
  return object(
    {
      splitStream: bool({
        default: false,
        flag: `log-${format}-split-stream`,
        about: `${format} format: errors to stderr, the rest to stdout`,
      }),
      infoBufferSize: quantity({
        default: '',
        flag: `log-${format}-info-buffer-size`,
        about: `${format} format: bytes held back before they are written`,
      }),
    },
    { about: `options of the ${format} format` },
  )
}

/** Our own log, and those of containers. */
export const loggingFields = {
  logging: object(
    {
      format: choice(['text', 'json'], { default: 'text', flag: 'logging-format', about: 'text or json' }),
      flushFrequency: duration({
        default: '5s',
        takesNanoseconds: true,
        flag: 'log-flush-frequency',
        flagStays: true,
        about: 'longest time until a line is written',
        rule: (value) => (value > 0 ? undefined : 'expected more than 0s'),
      }),
      verbosity: level({
        default: 0,
        flag: 'v',
        shortFlag: 'v',
        flagStays: true,
        about: 'how much is logged; 4 shows decisions',
      }),
      vmodule: objectList(
        {
          filePattern: text({
            default: '',
            about: 'pattern of file names',
            rule: (value) => (/^[^=,]+$/.test(value) ? undefined : 'expected a pattern without "=" and ","'),
          }),
          verbosity: level({ default: 0, about: 'how much these files log' }),
        },
        {
          default: [],
          flag: 'vmodule',
          flagType: 'pattern=N,…',
          flagStays: true,
          parseFlag: parseVmodule,
          about: 'how much single files log',
        },
      ),
      options: object({ text: outputFields('text'), json: outputFields('json') }, { about: 'options of the formats' }),
    },
    { about: 'our own log' },
  ),
  podLogsDir: path({
    default: '/var/log/pods',
    rule: findLogsFolderProblem,
    about: 'folder of the logs of containers',
  }),
  containerLogMaxSize: text({
    default: '10Mi',
    flag: 'container-log-max-size',
    about: 'size at which the log of a container is rotated; below 0 is never',
    rule: (value) =>
      attempt(() => parseQuantity(value)) === undefined ? 'expected a quantity such as "10Mi"' : undefined,
  }),
  containerLogMaxFiles: int32({
    default: 5,
    keepsZero: true,
    min: 2,
    flag: 'container-log-max-files',
    about: 'log files kept of a container',
  }),
  containerLogMaxWorkers: int32({ default: 1, keepsZero: true, min: 1, about: 'logs rotated at the same time' }),
  containerLogMonitorInterval: duration({
    default: '10s',
    keepsZero: true,
    min: '3s',
    about: 'time between two checks of log sizes',
  }),
}
