//! What a server of the contract answers.

use http::header::CONTENT_LENGTH;
use http::{Method, Response, StatusCode};

use crate::body::Body;

/// What a request asks for.
pub enum Route {
    /// Known at once.
    Answer(Answer),
    /// Known when the request's body has been counted: `Answer::received`.
    Upload,
}

pub struct Answer {
    pub status: StatusCode,
    /// Of the body, also where HEAD leaves it out.
    pub length: u64,
    pub body: Body,
}

/// What the fields of a header ask for; none: it is not the header of a request.
pub fn asked<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Option<Route> {
    let (mut method, mut path) = (None, None);
    for (name, value) in fields {
        match name {
            b":method" => method = Some(value),
            b":path" => path = Some(value),
            _ => {}
        }
    }
    let method = Method::from_bytes(method?).ok()?;
    Some(route(&method, std::str::from_utf8(path?).ok()?))
}

pub fn route(method: &Method, path: &str) -> Route {
    let answer = match path {
        "/upload" if method == Method::POST => return Route::Upload,
        "/upload" => Answer::error(StatusCode::METHOD_NOT_ALLOWED),
        _ if method != Method::GET && method != Method::HEAD => {
            Answer::error(StatusCode::METHOD_NOT_ALLOWED)
        }
        "/health" => Answer::new(StatusCode::OK, Body::text("ok\n".to_owned())),
        _ => match path
            .strip_prefix("/bytes/")
            .and_then(|count| count.parse().ok())
        {
            Some(count) => Answer::new(StatusCode::OK, Body::block(count)),
            None => Answer::error(StatusCode::NOT_FOUND),
        },
    };
    Route::Answer(if method == Method::HEAD {
        answer.without_body()
    } else {
        answer
    })
}

impl Answer {
    fn new(status: StatusCode, body: Body) -> Self {
        Self {
            status,
            length: body.left(),
            body,
        }
    }

    fn error(status: StatusCode) -> Self {
        Self::new(status, Body::text(format!("{status}\n")))
    }

    /// To an upload of so many bytes.
    pub fn received(count: u64) -> Self {
        Self::new(StatusCode::OK, Body::text(count.to_string()))
    }

    fn without_body(self) -> Self {
        Self {
            body: Body::empty(),
            ..self
        }
    }

    /// Head and body apart.
    pub fn into_parts(self) -> (Response<()>, Body) {
        let mut head = Response::new(());
        *head.status_mut() = self.status;
        head.headers_mut()
            .insert(CONTENT_LENGTH, self.length.into());
        (head, self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(method: Method, path: &str) -> (u16, u64, u64) {
        match route(&method, path) {
            Route::Answer(answer) => (answer.status.as_u16(), answer.length, answer.body.left()),
            Route::Upload => (0, 0, 0),
        }
    }

    #[test]
    fn bytes_are_counted() {
        assert_eq!(answer(Method::GET, "/bytes/0"), (200, 0, 0));
        assert_eq!(
            answer(Method::GET, "/bytes/1000000000"),
            (200, 1_000_000_000, 1_000_000_000)
        );
        assert_eq!(answer(Method::HEAD, "/bytes/1000"), (200, 1000, 0));
    }

    #[test]
    fn a_header_without_method_and_path_asks_for_nothing() {
        let request: [(&[u8], &[u8]); 3] =
            [(b":path", b"/upload"), (b":method", b"POST"), (b"x", b"y")];
        assert!(matches!(asked(request.into_iter()), Some(Route::Upload)));
        assert!(asked(request.into_iter().skip(1)).is_none());
        assert!(asked(request.into_iter().take(1)).is_none());
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(answer(Method::GET, "/bytes/").0, 404);
        assert_eq!(answer(Method::GET, "/bytes/-1").0, 404);
        assert_eq!(answer(Method::GET, "/nothing").0, 404);
        assert_eq!(answer(Method::POST, "/bytes/1").0, 405);
        assert_eq!(answer(Method::POST, "/upload"), (0, 0, 0));
    }
}
