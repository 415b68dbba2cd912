import { describe, expect, test } from 'vitest';
import { proxyRules } from './proxy-rules.ts';

const direct = null;

/** `host:port` of the proxy for a plain server. */
function proxyOf(env: Record<string, string>, host: string, port = 80, secure = false): string | null {
  const proxy = proxyRules(env).proxyFor(secure, host, port);
  return proxy === null ? direct : `${proxy.secure ? 'https' : 'http'}://${proxy.host}:${proxy.port}`;
}

describe('proxyRules', () => {
  test('each scheme has its variable, all_proxy stands in, lower case wins, empty is unset', () => {
    const env = { http_proxy: 'http://a:1', HTTPS_PROXY: 'b:2', all_proxy: 'http://c:3' };
    expect(proxyOf(env, 'x')).toBe('http://a:1');
    expect(proxyOf(env, 'x', 443, true)).toBe('http://b:2');
    expect(proxyOf({ ALL_PROXY: 'c' }, 'x')).toBe('http://c:80');
    expect(proxyOf({ ALL_PROXY: 'https://c' }, 'x')).toBe('https://c:443');
    expect(proxyOf({ http_proxy: 'http://low:1', HTTP_PROXY: 'http://up:2' }, 'x')).toBe('http://low:1');
    expect(proxyOf({ http_proxy: ' ', HTTP_PROXY: 'http://up:2' }, 'x')).toBe('http://up:2');
    expect(proxyOf({ https_proxy: 'http://a:1' }, 'x')).toBe(direct);
    expect(proxyOf({}, 'x')).toBe(direct);
  });

  test('credentials are decoded, IPv6 literals lose their brackets', () => {
    const proxy = proxyRules({ http_proxy: 'http://u%3A:p%20w@[::1]:8080/' }).proxyFor(false, 'x', 80);
    // printf 'u::p w' | base64
    expect(proxy).toEqual({ secure: false, host: '::1', port: 8080, authorization: 'Basic dTo6cCB3' });
  });

  test.each([
    ['*', 'any.thing', 80, true],
    ['model.test', 'model.test', 80, true],
    ['model.test', 'MODEL.test', 80, true],
    ['model.test', 'a.model.test', 80, true],
    ['model.test', 'supermodel.test', 80, false],
    ['.model.test', 'a.model.test', 80, true],
    ['.model.test', 'model.test', 80, true],
    ['*.model.test', 'a.model.test', 80, true],
    ['a, b  c', 'c', 80, true],
    ['model.test:8000', 'model.test', 8000, true],
    ['model.test:8000', 'model.test', 80, false],
    ['127.0.0.1', '127.0.0.1', 80, true],
    ['0.0.1', '127.0.0.1', 80, false],
    ['10.0.0.0/8', '10.1.2.3', 80, true],
    ['10.0.0.0/8', '11.1.2.3', 80, false],
    ['10.0.0.0/8', 'ten.test', 80, false],
    ['10.0.0.0/99', '10.1.2.3', 80, false],
    ['::1', '::1', 80, true],
    ['[::1]', '::1', 80, true],
    ['[::1]:8000', '::1', 8000, true],
    ['[::1]:8000', '::1', 80, false],
    ['fd00::/8', 'fd12::1', 80, true],
    ['fd00::/8', 'fe80::1', 80, false],
  ])('no_proxy=%s: %s port %d is exempt: %s', (list, host, port, exempt) => {
    expect(proxyOf({ http_proxy: 'http://p:1', no_proxy: list }, host, port)).toBe(
      exempt ? direct : 'http://p:1',
    );
  });

  test('a proxy that cannot be used is an error that names the variable and not the password', () => {
    const asked = (env: Record<string, string>) => () => proxyOf(env, 'x');
    expect(asked({ http_proxy: 'socks5://u:secret@a:1' })).toThrow(
      /http_proxy is of the unsupported kind socks5:/,
    );
    expect(asked({ http_proxy: 'http://u:secret@' })).toThrow(/http_proxy is not a URL/);
    expect(asked({ http_proxy: 'http://u:secret@' })).not.toThrow(/secret/);
  });
});
