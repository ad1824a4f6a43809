//! The sign-in dialog of a server: the host to sign in at, the full address to open, and a field for
//! the address to which the browser was redirected. The browser opens only when the user presses a
//! key.

use crate::domain::{ServerId, SignInRequest};
use crate::protocol::{Command, Event, SignInCommand, SignInEvent};
use crate::text::Clean;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of rows of the rejection above the field.
const REJECTION_ROWS_MAX: usize = 4;
const SPINNER_STEP: Duration = Duration::from_millis(100);
const FIELD_LABEL: &str = "Address:";

#[derive(Debug)]
pub struct SignInLayer {
    server: ServerId,
    /// `None` until the authorization server is known.
    request: Option<Arc<SignInRequest>>,
    pasted: Editor,
    /// Whether the sign-in in the browser is done, and the tokens are being requested.
    is_exchanging: bool,
    /// The time at the last tick, or when the exchange of the code began.
    now: Duration,
    /// Why the last address was not accepted.
    rejection: Option<String>,
    /// Number of rows above the view.
    scrolled_rows: usize,
    /// Number of rows below the view at the last draw.
    hidden_rows: usize,
}

/// Starts a sign-in and shows its dialog.
pub fn open(server: &ServerId, cx: &mut UiContext) {
    cx.send(Command::SignIn(SignInCommand::Start(server.clone())));
    cx.open(SignInLayer {
        server: server.clone(),
        request: None,
        pasted: Editor::new(""),
        is_exchanging: false,
        now: cx.shared.now,
        rejection: None,
        scrolled_rows: 0,
        hidden_rows: 0,
    });
}

impl SignInLayer {
    fn cancel(&self, cx: &mut UiContext) -> Handled {
        cx.send(Command::SignIn(SignInCommand::Cancel));
        Handled::Closed
    }

    fn submit(&mut self, cx: &mut UiContext) {
        let address = self.pasted.text().trim().to_owned();
        if self.request.is_some() && !self.is_exchanging && !address.is_empty() {
            self.rejection = None;
            cx.send(Command::SignIn(SignInCommand::UseAddress(address)));
        }
    }

    fn rejection_rows(&self, columns: u16) -> Vec<String> {
        let Some(why) = &self.rejection else {
            return Vec::new();
        };
        let mut rows = wrapped_rows(&Clean::single_line(why), columns);
        rows.truncate(REJECTION_ROWS_MAX);
        rows
    }

    /// The rows above the field, each with its style.
    fn rows(&self, columns: u16, pen: &Painter) -> Vec<(String, Style)> {
        let theme = pen.theme;
        let mut rows = Vec::new();
        let mut put = |text: &str, style: Style| {
            let wrapped = wrapped_rows(&Clean::new(text), columns);
            rows.extend(wrapped.into_iter().map(|row| (row, style)));
        };
        let Some(request) = &self.request else {
            put("Looking for the authorization server …", theme.dim);
            return rows;
        };
        put(&format!("Server   {}", request.server_url), theme.plain);
        put(&format!("Sign in  {}", request.host), theme.attention);
        if request.has_punycode() {
            let warning =
                "This host name contains international letters, which can imitate another name.";
            put(warning, theme.failure);
        }
        let scopes = match request.scopes.is_empty() {
            true => "none named".to_owned(),
            false => request.scopes.join(", "),
        };
        put(&format!("Scopes   {scopes}"), theme.plain);
        put("", theme.plain);
        put("Open this address in a browser:", theme.dim);
        put(&request.url, theme.accent);
        put("", theme.plain);
        let end = format!(
            "the address of the page where it ends up ({}…)",
            request.callback
        );
        put(
            &match request.is_listening {
                true => format!(
                    "The browser returns here by itself. If it runs on another machine, paste {end}."
                ),
                false => format!(
                    "All callback ports are taken, so the browser cannot return here. Paste {end}."
                ),
            },
            theme.dim,
        );
        rows
    }
}

impl Layer for SignInLayer {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx
            .shared
            .keymap
            .layer_key(key, &[KeyContext::SignIn, KeyContext::ScrollableList])
        {
            Some(LayerKey::Back) => return self.cancel(cx),
            Some(LayerKey::Confirm) => self.submit(cx),
            Some(LayerKey::Copy) => {
                if let Some(request) = &self.request {
                    cx.copy("the address", request.url.clone());
                }
            }
            Some(LayerKey::OpenBrowser) => {
                if let Some(request) = &self.request {
                    cx.request(UiRequest::OpenBrowser(request.url.clone()));
                }
            }
            Some(LayerKey::PageUp | LayerKey::PageDown) => return Handled::PassedOn,
            _ => {
                text_field::handle_line_key(&mut self.pasted, key, cx.shared.keymap);
            }
        }
        Handled::Consumed
    }

    /// Pasting fills the field; only Enter uses it.
    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        text_field::paste_line(&mut self.pasted, text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        let last = self.scrolled_rows + self.hidden_rows;
        self.scrolled_rows = self.scrolled_rows.saturating_add_signed(rows).min(last);
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        let Event::SignIn(event) = event else {
            return Handled::PassedOn;
        };
        match event {
            SignInEvent::Opened(request) if request.server == self.server => {
                self.request = Some(Arc::clone(request));
            }
            SignInEvent::AddressRejected(why) => {
                self.rejection = Some(why.clone());
                self.pasted = Editor::new("");
            }
            SignInEvent::ExchangingCode => {
                self.is_exchanging = true;
                self.rejection = None;
                self.now = cx.shared.now;
            }
            SignInEvent::Ended(server) if *server == self.server => return Handled::Closed,
            _ => {}
        }
        Handled::Consumed
    }

    fn interrupt(&mut self, cx: &mut UiContext) -> Handled {
        self.cancel(cx)
    }

    fn wake_at(&self) -> Option<Duration> {
        self.is_exchanging.then(|| self.now + SPINNER_STEP)
    }

    fn tick(&mut self, cx: &mut UiContext) {
        self.now = cx.shared.now;
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let name = Clean::name(self.server.as_str());
        let area = draw_window(area.body, &format!("Sign in to {name}"), "", pen);
        let rejection = self.rejection_rows(area.width);
        let message_height = u16::try_from(rejection.len()).unwrap_or(1).max(1);
        let field_y = area.y + area.height.saturating_sub(1);
        let text_height = area.height.saturating_sub(1 + message_height);
        let rows = self.rows(area.width, pen);
        let last = rows.len().saturating_sub(text_height.into());
        self.scrolled_rows = self.scrolled_rows.min(last);
        self.hidden_rows = last - self.scrolled_rows;
        for ((text, style), y) in rows.iter().skip(self.scrolled_rows).zip(0..text_height) {
            pen.put(area.x, area.y + y, text, *style, area.width);
        }
        let message_y = area.y + text_height;
        for (text, y) in rejection.iter().zip(message_y..field_y) {
            pen.put(area.x, y, text, pen.theme.failure, area.width);
        }
        if self.is_exchanging {
            let spinner = shared.glyphs.spinner(shared.now.as_millis());
            let text = format!("{spinner} Exchanging the code…");
            pen.put_truncated(area.x, message_y, &text, pen.theme.accent, area.width);
            return None;
        }
        if rejection.is_empty() && self.hidden_rows > 0 {
            let rows = if self.hidden_rows == 1 { "row" } else { "rows" };
            let text = format!("{} more {rows} below", self.hidden_rows);
            pen.put_truncated(area.x, message_y, &text, pen.theme.dim, area.width);
        }
        let field = Rect {
            y: field_y,
            height: area.height.min(1),
            ..area
        };
        let label = (FIELD_LABEL, pen.theme.dim);
        let cursor = text_field::draw_line(&mut self.pasted, label, field, pen);
        self.request.as_ref().map(|_| cursor)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let hint = |key, effect| {
            let context = KeyContext::SignIn;
            shared.keymap.layer_hint(context, key, effect)
        };
        let mut hints = Vec::new();
        if self.request.is_some() && !self.is_exchanging {
            if !self.pasted.is_blank() {
                hints.extend(hint(LayerKey::Confirm, "use the address"));
            }
            hints.extend(hint(LayerKey::OpenBrowser, "open the browser"));
            hints.extend(hint(LayerKey::Copy, "copy the address"));
        }
        hints.extend(hint(LayerKey::Back, "cancel"));
        hints
    }
}
